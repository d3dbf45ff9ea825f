import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { pageFields } from '../kernel/page'
import { checked, checkedPath, checkedQuery, t } from '../kernel/schema'
import { ApiKey } from '../keys/schema'
import * as words from './schema'
import type { GuardrailService } from './service'

const ById = checkedPath(t.Object({ id: t.String() }))

/** `/guardrail-policies`, `/guardrails` and `PUT /keys/{id}/guardrails` (contract 12, 13). */
export const guardrailRoutes = (guardrails: GuardrailService, guard: Guard) =>
  new Elysia({ tags: ['Guardrails'] })
    .use(guard)
    .get('/guardrails', (context) => guardrails.catalogue(toCall(context)), {
      scope: 'billing',
      response: { 200: answer(words.GuardrailCatalogue), ...errors(401, 403, 429) },
      detail: { summary: 'List the guardrails that rules can use, with their phases, verdicts and config' },
    })
    .put('/keys/:id/guardrails', (context) => guardrails.bind(toCall(context), context.params.id, context.body), {
      scope: 'billing',
      params: ById,
      body: checked(words.GuardrailBinding),
      response: { 200: answer(ApiKey), ...errors(400, 401, 403, 404, 429) },
      detail: { summary: 'Bind a guardrail policy to a key; null unbinds' },
    })
    .use(policyPaths(guardrails, guard))

const policyPaths = (guardrails: GuardrailService, guard: Guard) =>
  new Elysia({ prefix: '/guardrail-policies', tags: ['Guardrails'] })
    .use(guard)
    .post('', async (context) => context.status(201, await guardrails.create(toCall(context), context.body)), {
      scope: 'billing',
      idempotent: true,
      body: checked(words.NewPolicy),
      response: { 201: answer(words.GuardrailPolicy), ...errors(400, 401, 403, 409, 429) },
      detail: { summary: 'Create a guardrail policy, not yet bound to a key' },
    })
    .get(
      '',
      async (context) => {
        const page = await guardrails.list(toCall(context), context.query)
        return { guardrail_policies: page.items, ...pageFields(page) }
      },
      {
        scope: 'billing',
        query: checkedQuery(words.PolicyQuery),
        response: { 200: answer(words.PolicyPage), ...errors(400, 401, 403, 429) },
        detail: { summary: "List your guardrail policies and your active organization's, newest first" },
      },
    )
    .get('/:id', (context) => guardrails.get(toCall(context), context.params.id), {
      scope: 'billing',
      params: ById,
      response: { 200: answer(words.GuardrailPolicy), ...errors(401, 403, 404, 429) },
      detail: { summary: 'Read one guardrail policy' },
    })
    .patch('/:id', (context) => guardrails.update(toCall(context), context.params.id, context.body), {
      scope: 'billing',
      params: ById,
      body: checked(words.PolicyPatch),
      response: { 200: answer(words.GuardrailPolicy), ...errors(400, 401, 403, 404, 409, 429) },
      detail: { summary: 'Change a guardrail policy with immediate effect; "rules" replaces all rules' },
    })
    .delete('/:id', (context) => guardrails.remove(toCall(context), context.params.id), {
      scope: 'billing',
      params: ById,
      response: { 200: answer(words.PolicyDeleted), ...errors(401, 403, 404, 429) },
      detail: { summary: 'Delete a guardrail policy and unbind it from its keys' },
    })
    .post('/:id/evaluate', (context) => guardrails.evaluate(toCall(context), context.params.id, context.body), {
      scope: 'billing',
      params: ById,
      body: checked(words.Evaluation),
      response: { 200: answer(words.Evaluated), ...errors(400, 401, 403, 404, 429) },
      detail: {
        summary: 'Try a policy on a text; nothing is billed, stored or sent to an engine',
        description:
          'Reports what every rule of the phase finds; in a run, the first rule that blocks ends the phase. Output is checked as text; in a run, output that must be JSON is also checked as JSON.',
      },
    })
