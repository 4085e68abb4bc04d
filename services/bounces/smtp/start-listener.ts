/** Starts the listener if it is configured, and reloads its certificate when the file changes. */
import { readFileSync, statSync } from "node:fs";
import type { ServiceBroker } from "moleculer";
import { config } from "../../lib/config.ts";
import type { Ingester } from "../ingest.ts";
import { readReport } from "../reports/read-report.ts";
import type { InboundListener } from "./listener.ts";

type Logger = ServiceBroker["logger"];

const CERTIFICATE_CHECK_MS = 60_000;

export interface RunningListener {
  port: number;
  stop(): Promise<void>;
}

interface CertificateFiles {
  cert: string;
  key: string;
}

function certificateFiles(): CertificateFiles | undefined {
  const { INBOUND_TLS_CERT: cert, INBOUND_TLS_KEY: key } = config();
  return cert && key ? { cert, key } : undefined;
}

const readCertificate = ({ cert, key }: CertificateFiles) => ({
  cert: readFileSync(cert, "utf8"),
  key: readFileSync(key, "utf8"),
});

const versionOf = ({ cert, key }: CertificateFiles) => `${statSync(cert).mtimeMs}/${statSync(key).mtimeMs}`;

function followCertificate(listener: InboundListener, files: CertificateFiles, logger: Logger): () => void {
  let loadedVersion = versionOf(files);
  const timer = setInterval(() => {
    try {
      const version = versionOf(files);
      if (version === loadedVersion) return;
      listener.useTls(readCertificate(files));
      loadedVersion = version;
    } catch (error) {
      logger.warn(
        `The certificate of INBOUND_TLS_CERT cannot be read; the one before is used: ${(error as Error).message}`,
      );
    }
  }, CERTIFICATE_CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Undefined if INBOUND_PORT is not set. */
export async function startListener(ingester: Ingester, logger: Logger): Promise<RunningListener | undefined> {
  const { INBOUND_PORT, HOST, BASE_URL } = config();
  if (INBOUND_PORT === undefined) return undefined;
  const files = certificateFiles();
  const { InboundListener } = await import("./listener.ts");
  const listener = new InboundListener({
    port: INBOUND_PORT,
    host: HOST,
    name: new URL(BASE_URL).hostname,
    tls: files && readCertificate(files),
    ingester,
    readReport,
    onError: (error) => logger.error({ error }, "Inbound message could not be stored"),
  });
  const port = await listener.listen();
  logger.info(`Listening for bounces by SMTP on port ${port}`);
  const unfollow = files ? followCertificate(listener, files, logger) : () => {};
  return {
    port,
    stop() {
      unfollow();
      return listener.stop();
    },
  };
}
