# syntax=docker/dockerfile:1

FROM node:26-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: the one of this project needs its sources, and bcrypt brings what it needs.
RUN npm ci --omit=dev --ignore-scripts

FROM node:26-slim
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
# Readable for the user of the container, whatever the umask of the checkout.
COPY --chmod=755 package.json ./
COPY --chmod=755 src src
COPY --chmod=755 client/dist client/dist
COPY --chmod=755 console/page console/page
# The directory of the file of SQLite, used without DATABASE_URL; the rest of the file system can be read-only.
RUN install -d -o node -g node -m 700 /data
# Compiles the code once for all containers (docs/adr/0021). Node keeps a cache for each user; at run time, only root can change it.
RUN install -d -o node -g node -m 755 node_modules/.cache/tandem/compile
USER node
RUN NODE_COMPILE_CACHE=node_modules/.cache/tandem/compile node src/infrastructure/fill-compile-cache.js
USER root
RUN chown -R root:root node_modules/.cache && chmod -R a+rX node_modules/.cache
# The commit, for the log, the metrics and GET /health/live: docker build --build-arg REVISION="$(git rev-parse HEAD)" .
ARG REVISION
LABEL org.opencontainers.image.revision=$REVISION
RUN npm pkg set "revision=$REVISION"
ENV NODE_ENV=production DATA_DIR=/data PORT=3000
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/live`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/infrastructure/main.js"]
