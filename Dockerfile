# One image for every size: all services in one process by default, one service folder per Deployment in k8s/.
FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The lock file decides every version. Optional ones are left out: they are a Node and a PostgreSQL for laptops.
RUN npm ci --omit=dev --omit=optional && npm cache clean --force

FROM node:24-slim
WORKDIR /app
# V8 would let the heap grow to what is free. These suffice for a million recipients and for 18 MB of attachments.
ENV NODE_ENV=production NODE_OPTIONS="--max-semi-space-size=16 --max-old-space-size=512"
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json moleculer.config.ts ./
COPY mixins ./mixins
COPY models ./models
COPY services ./services
USER node
EXPOSE 3000 3030
# node is process 1 and gets SIGTERM itself. Without arguments: all services.
ENTRYPOINT ["node", "node_modules/moleculer/bin/moleculer-runner.js", "--config", "moleculer.config.ts"]
CMD ["services/**/*.service.ts"]
