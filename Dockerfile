# One image for every size: all services in one process by default, one service folder per Deployment in k8s/.
# A release pins the digest of this tag (scripts/release/README.md).
ARG BASE=node:24-slim

FROM ${BASE} AS packages
RUN apt-get update && apt-get install --yes --no-install-recommends tini
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Installs the locked versions without install scripts. Credentials of a private registry come from secrets, which are
# not stored in the image.
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=secret,id=authorities,target=/run/authorities.pem \
  npm ci --omit=dev --ignore-scripts --no-audit
# Bundles the editor's browser code, then removes optional packages: esbuild's binary, and the Node and PostgreSQL that
# npm installs for development. sharp's binaries are optional packages, too, one for each platform; the one for the base
# image's C library stays.
COPY services ./services
RUN node services/console/bundle.ts && rm -rf services \
  && cp -a node_modules/@img /tmp/img && rm -rf /tmp/img/*linuxmusl* \
  && npm prune --omit=dev --omit=optional --ignore-scripts --no-audit \
  && rm -rf node_modules/@img && mv /tmp/img node_modules/@img && node -e "require('sharp')"
COPY scripts/image ./scripts/image
RUN npm sbom --sbom-format cyclonedx --omit dev --omit optional --package-lock-only | node scripts/image/describe-packages.ts \
  && node scripts/image/prune-packages.ts node_modules

FROM ${BASE}
# Removes package managers, which an attacker could use.
RUN rm -rf /opt/yarn-* /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
  /usr/local/bin/yarn /usr/local/bin/yarnpkg
WORKDIR /app
# Bounds the heap, which V8 would let grow to all memory; the sizes suffice for a million recipients and for 18 MB of
# attachments. One helper thread, because garbage collection with V8's default of four delays requests on two cores.
ENV NODE_ENV=production MALLOC_ARENA_MAX=1 NODE_OPTIONS="--max-semi-space-size=16 --max-old-space-size=512 --v8-pool-size=1"
# Folder of the socket for operator commands. It is in /tmp, because the user owns nothing in /app and the root file
# system may be read-only.
ENV DATA_DIR=/tmp/flockmail
COPY --from=packages /usr/bin/tini /usr/bin/
COPY --from=packages /usr/share/doc/tini/copyright /usr/share/doc/tini/
COPY --from=packages /app/node_modules ./node_modules
COPY --from=packages /app/.cache ./.cache
COPY --from=packages /app/sbom.cdx.json /app/LICENSES.txt ./
COPY package.json moleculer.config.ts LICENSE ./
COPY docs ./docs
COPY mixins ./mixins
COPY models ./models
COPY services ./services
# The user "node" of the base image, by number so that Kubernetes can verify that it is not root.
USER 1000:1000
EXPOSE 3000 3030
# Used by Docker only, because Kubernetes has its own probes. Calls /ready.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.HEALTH_PORT || 3030) + '/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# tini is process 1, because node would ignore a SIGTERM sent before it has a handler, and never reap orphans. If a
# SIGTERM ends node that early, `-e 143` turns the exit code 143 into 0, because it was an orderly stop. Without
# arguments all services run.
ENTRYPOINT ["tini", "-e", "143", "--", "node", "node_modules/moleculer/bin/moleculer-runner.js", "--config", "moleculer.config.ts"]
CMD ["services/**/*.service.ts"]
ARG VERSION=unreleased REVISION=unknown CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="Flockmail" \
  org.opencontainers.image.description="Email campaigns behind a REST API" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.created="${CREATED}"
