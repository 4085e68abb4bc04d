# One image for every size: all services in one process by default, one service folder per Deployment in k8s/.
FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The lock file decides every version. Optional ones are left out: they are a Node and a PostgreSQL for laptops. No package
# of what remains needs its install script.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force

FROM node:24-slim
WORKDIR /app
# V8 would let the heap grow to what is free. These suffice for a million recipients and for 18 MB of attachments.
ENV NODE_ENV=production MALLOC_ARENA_MAX=1 NODE_OPTIONS="--max-semi-space-size=16 --max-old-space-size=512"
# For the socket of operators' commands: node owns nothing in /app, and the root file system may be read-only.
ENV DATA_DIR=/tmp/flockmail
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json moleculer.config.ts ./
COPY mixins ./mixins
COPY models ./models
COPY services ./services
USER node
EXPOSE 3000 3030
# For Docker alone; Kubernetes has probes of its own. It asks what /ready asks of a load balancer.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.HEALTH_PORT || 3030) + '/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Process 1 handles SIGTERM from its first moment on and passes it to node. Without arguments: all services.
ENTRYPOINT ["sh", "services/lib/processes/first.sh", "node", "node_modules/moleculer/bin/moleculer-runner.js", "--config", "moleculer.config.ts"]
CMD ["services/**/*.service.ts"]
