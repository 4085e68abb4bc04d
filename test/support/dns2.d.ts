/** Types of dns2 (which has none) as used by test/support/dns-server.ts. */
declare module "dns2" {
  interface Packet {
    header: { rcode: number };
    questions: { name: string; type: number }[];
    answers: Record<string, unknown>[];
  }
  interface Server {
    listen(options: { udp: { port: number; address: string } }): Promise<unknown>;
    addresses(): { udp: { address: string; port: number } };
    close(): Promise<void>;
  }
  const dns2: {
    createServer(options: { udp: true; handle: (request: Packet, send: (response: Packet) => void) => void }): Server;
    Packet: {
      createResponseFromRequest(request: Packet): Packet;
      TYPE: Record<"A" | "AAAA" | "CNAME" | "MX" | "TXT", number>;
      CLASS: { IN: number };
    };
  };
  export default dns2;
}
