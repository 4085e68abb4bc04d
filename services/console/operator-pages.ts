/** Every page for operators: where it is below /app/, what shows it, what its form does. */

import {
  endpointPage,
  failuresPage,
  queuesOfWebhooks,
  requeueEndpoint,
  runningPage,
  sendersPage,
  statePage,
  stopAnyCampaign,
  whyPage,
} from "./pages/operator.ts";
import {
  changePlan,
  companiesPage,
  operatorCompanyPage,
  pauseCompany,
  plansPage,
  resumeCompany,
} from "./pages/operator-companies.ts";
import {
  endOperatorSession,
  openWithLink,
  operatorSessionsPage,
  operatorSignIn,
  signOutOperator,
} from "./pages/operator-sessions.ts";
import type { Table } from "./pages.ts";
import type { OperatorVisit, Visit } from "./request.ts";

/** Pages for visitors with a sign-in link. */
export const linkPages: Table<Visit> = {
  "operator/sign-in": { page: operatorSignIn, form: openWithLink },
};

/** Once the link was used. */
export const operatorPages: Table<OperatorVisit> = {
  operator: { page: statePage },
  "operator/senders": { page: sendersPage },
  "operator/campaigns": { page: runningPage },
  "operator/campaigns/:id": { page: failuresPage },
  "operator/campaigns/:id/stop": { form: stopAnyCampaign },
  "operator/companies": { page: companiesPage },
  "operator/companies/:id": { page: operatorCompanyPage },
  "operator/companies/:id/plan": { form: changePlan },
  "operator/companies/:id/pause": { form: pauseCompany },
  "operator/companies/:id/unpause": { form: resumeCompany },
  "operator/plans": { page: plansPage },
  "operator/webhooks": { page: queuesOfWebhooks },
  "operator/webhooks/:id": { page: endpointPage },
  "operator/webhooks/:id/requeue": { form: requeueEndpoint },
  "operator/why": { page: whyPage },
  "operator/sessions": { page: operatorSessionsPage },
  "operator/sessions/:id/end": { form: endOperatorSession },
  "operator/sign-out": { form: signOutOperator },
};
