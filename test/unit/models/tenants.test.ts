import { Sequelize } from "sequelize";
import { bindModels } from "../../../models/index.ts";

test("writes of one instance of a tenant's model name the company", () => {
  const sequelize = new Sequelize({ dialect: "postgres", logging: false });
  bindModels(sequelize);
  const tenants = Object.values(sequelize.models).filter(
    (model) => model.getAttributes().companyId?.allowNull === false,
  );
  expect(tenants.length).toBeGreaterThan(20);
  for (const model of tenants)
    expect([model.name, model.primaryKeyAttributes]).toEqual([model.name, expect.arrayContaining(["companyId"])]);
});
