import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { dataFolder, node, type ServiceProcess, startService } from "../../support/service-process.ts";

jest.setTimeout(120_000);

const data = dataFolder();
let service: ServiceProcess;
beforeAll(async () => {
  service = await (await startService({ env: { DATA_DIR: data.path } })).ready();
});
afterAll(async () => {
  await service?.child.stop();
  data.remove();
});

const ops = async (...words: string[]) => {
  const env = { ...process.env, DATA_DIR: data.path };
  const script = join(import.meta.dirname, "../../../services/operator/ops.ts");
  return promisify(execFile)(node, [script, ...words], { env, timeout: 20_000 }).then(
    ({ stdout }) => ({ code: 0, stdout, stderr: "" }),
    ({ code, stdout, stderr }) => ({ code: code as number, stdout: stdout as string, stderr: stderr as string }),
  );
};

describe("operators' commands reach a service that runs in one process", () => {
  test("as a table and as JSON", async () => {
    const created = await ops("create-company", "Lantern Books", "--json");
    const [{ company_id }] = JSON.parse(created.stdout);
    expect((await ops("companies")).stdout).toMatch(new RegExp(`${company_id} +Lantern Books +unlimited`));
    expect(JSON.parse((await ops("companies", "--json")).stdout)).toMatchObject([{ id: company_id }]);
  });

  test("and say in one line what is wrong", async () => {
    expect(await ops("limits", "nobody")).toMatchObject({ code: 1, stderr: expect.stringContaining("valid UUID") });
    expect(await ops("no-such-command")).toMatchObject({ code: 64 });
    expect(await ops("limits")).toMatchObject({ code: 64, stderr: expect.stringContaining("<company_id>") });
  });

  test("through a door that only the owner opens, and that lets only operators' actions through", async () => {
    const path = join(data.path, "operator.sock");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const socket = connect(path);
    socket.write(`${JSON.stringify({ action: "$node.options", params: {} })}\n`);
    const { value } = await createInterface({ input: socket })[Symbol.asyncIterator]().next();
    socket.destroy();
    expect(JSON.parse(value!).error.message).toContain("not for operators");
  });
});
