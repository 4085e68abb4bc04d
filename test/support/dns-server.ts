/** A test's own name server, on UDP over loopback. */
import dns2 from "dns2";

export interface Zone {
  txt?: string[];
  mx?: [priority: number, exchange: string][];
  a?: string[];
  aaaa?: string[];
  /** Answers with this alias only. */
  cname?: string;
  /** Answers SERVFAIL or nothing, whatever the records. */
  fault?: "servfail" | "silent";
}

export interface DnsServer {
  /** Address in the format of DNS_SERVERS. */
  address: string;
  /** Zones by name in lower case; may change at any time. Unknown names do not exist. */
  zones: Map<string, Zone>;
  stop(): Promise<void>;
}

const { Packet } = dns2;
const SERVFAIL = 2;
const NXDOMAIN = 3;
/** RFC 1035, section 3.3: maximum length of a TXT string. */
const MAX_STRING = 255;
const MAX_ALIASES = 8;

const strings = (text: string) => text.match(new RegExp(`.{1,${MAX_STRING}}`, "gs")) ?? [""];

function records(zone: Zone, type: number): Record<string, unknown>[] {
  const { A, AAAA, MX, TXT } = Packet.TYPE;
  if (type === A) return (zone.a ?? []).map((address) => ({ address }));
  if (type === AAAA) return (zone.aaaa ?? []).map((address) => ({ address }));
  if (type === MX) return (zone.mx ?? []).map(([priority, exchange]) => ({ priority, exchange }));
  if (type === TXT) return (zone.txt ?? []).map((text) => ({ data: strings(text) }));
  return [];
}

/** Includes the aliases that lead to the name, as a resolver does. */
function answersOf(zones: DnsServer["zones"], name: string, type: number, names = 0): Record<string, unknown>[] {
  const zone = zones.get(name.toLowerCase()) ?? {};
  const common = { name, class: Packet.CLASS.IN, ttl: 1 };
  if (zone.cname === undefined) return records(zone, type).map((record) => ({ ...common, type, ...record }));
  const alias = { ...common, type: Packet.TYPE.CNAME, domain: zone.cname };
  if (type === Packet.TYPE.CNAME || names > MAX_ALIASES) return [alias];
  return [alias, ...answersOf(zones, zone.cname, type, names + 1)];
}

/** `at` is an address for programs that always ask port 53; only root may listen there. */
export async function startDnsServer(
  given: Record<string, Zone> = {},
  at: { address: string; port: number } = { address: "127.0.0.1", port: 0 },
): Promise<DnsServer> {
  const zones = new Map(Object.entries(given));
  const server = dns2.createServer({
    udp: true,
    handle(request, send) {
      const { name, type } = request.questions[0]!;
      const zone = zones.get(name.toLowerCase());
      if (zone?.fault === "silent") return;
      const response = Packet.createResponseFromRequest(request);
      if (zone?.fault === "servfail") response.header.rcode = SERVFAIL;
      else if (!zone) response.header.rcode = NXDOMAIN;
      else {
        response.answers.push(...answersOf(zones, name, type));
      }
      send(response);
    },
  });
  await server.listen({ udp: at });
  return {
    address: `${at.address}:${server.addresses().udp.port}`,
    zones,
    stop: () => server.close(),
  };
}
