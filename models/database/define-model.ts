/**
 * Registry of the Sequelize models: a model's file registers how it is bound, opening the database binds them all.
 * Tables that only SQL touches (recipients, chunks, counters) have no model.
 *
 * A tenant's table has the company in its key, so that what Sequelize writes for one instance names the company, too.
 */
import type { Sequelize } from "sequelize";

type Bind = (sequelize: Sequelize) => void;

const registered: Bind[] = [];
let bound: Sequelize | undefined;

export function defineModel(bind: Bind): void {
  registered.push(bind);
  if (bound) bind(bound);
}

export function initModels(sequelize: Sequelize): void {
  bound = sequelize;
  for (const bind of registered) bind(sequelize);
}
