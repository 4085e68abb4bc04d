import { createHash } from "node:crypto";
import { unlinkSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

// sun_path holds 104 bytes on macOS and 108 on Linux.
const MAX_SOCKET_PATH = 100;

/** Path of a Unix socket in the directory, or in the system's temporary folder if that would be too long. */
export function socketPath(directory: string, name: string): string {
  const path = join(resolve(directory), name);
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH) return path;
  return join(tmpdir(), `flockmail-${createHash("sha256").update(path).digest("hex").slice(0, 32)}.sock`);
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", reject);
    server.listen(path, () => {
      server.unref();
      resolve(server);
    });
  });
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/**
 * Makes this process the only one that uses `directory`, until the returned function is called or the process ends in
 * any way: the kernel closes the socket, so no stale lock remains. Throws if another process holds it.
 */
export async function holdDirectory(directory: string): Promise<() => Promise<void>> {
  const path = socketPath(directory, "instance.sock");
  let server: Server;
  try {
    server = await listen(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    if (await isListening(path)) {
      throw new Error(
        `Another Flockmail is running on ${resolve(directory)} (DATA_DIR); stop it or choose another directory.`,
      );
    }
    unlinkSync(path);
    server = await listen(path);
  }
  return () => new Promise((done) => server.close(() => done()));
}
