import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Sequelize } from "sequelize";
import { initModels } from "../../../models/database/define-model.ts";

const folder = join(import.meta.dirname, "../../../models");

test("what is written for one instance of a tenant's model names the company", async () => {
  const sequelize = new Sequelize({ dialect: "postgres", logging: false });
  initModels(sequelize);
  const files = readdirSync(folder).map((name) => join(folder, name));
  for (const file of files.filter((path) => path.endsWith(".ts"))) {
    if (readFileSync(file, "utf8").includes("\ndefineModel(")) await import(file);
  }
  const tenants = Object.values(sequelize.models).filter((model) => "companyId" in model.getAttributes());
  expect(tenants.length).toBeGreaterThan(5);
  for (const model of tenants)
    expect([model.name, model.primaryKeyAttributes]).toEqual([model.name, expect.arrayContaining(["companyId"])]);
});
