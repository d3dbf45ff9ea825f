import { Elysia } from 'elysia'
import { ApiKey } from '../accounts/keys/schema'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { resourceVerbs } from '../http/resource-verbs'
import { tenant, tenantRoutes, verb } from '../http/verbs'
import { checked, checkedPath, t } from '../kernel/schema'
import { Moderation, ModerationOrder } from './moderations'
import * as words from './schema'
import type { GuardrailService } from './service'

/** `/guardrails` and `/guardrail-policies` (docs/api.md 12), for tenants and operators. */
export const guardrailVerbs = ({ policies, catalogue, evaluate }: GuardrailService) =>
  [
    verb.get(
      '/guardrails',
      {
        holds: 'facts',
        reply: words.GuardrailCatalogue,
        summary: 'List the guardrails that rules can use, with their phases, verdicts and config',
      },
      catalogue,
    ),
    ...resourceVerbs(policies),
    verb.post(
      '/guardrail-policies/:id/evaluate',
      {
        body: words.Evaluation,
        reply: words.Evaluated,
        role: 'any',
        summary: 'Try a policy on a text; nothing is billed, stored or sent to an engine',
        description:
          'Reports what every rule of the phase finds; in a run, the first rule that blocks ends the phase. Output is checked as text; in a run, output that must be JSON is also checked as JSON.',
      },
      (call, { id, body }) => evaluate(call, id, body),
    ),
  ] as const

const previewVerb = ({ preview }: GuardrailService) =>
  tenant.post(
    '/guardrail-policies/preview',
    {
      body: words.Trial,
      reply: words.Evaluated,
      summary: 'Try rules on a text before a policy has them; nothing is billed, stored or sent to an engine',
    },
    (call, { body }) => preview(call, body),
  )

export const guardrailRoutes = (guardrails: GuardrailService, guard: Guard) =>
  tenantRoutes([...guardrailVerbs(guardrails), previewVerb(guardrails)], guard, { scope: 'billing', tag: 'Guardrails' })
    .use(bindingRoutes(guardrails, guard))
    .use(moderationRoutes(guardrails, guard))

/** `POST /moderations` (docs/api.md 32.3). */
const moderationRoutes = (guardrails: GuardrailService, guard: Guard) =>
  new Elysia({ tags: ['Guardrails'] })
    .use(guard)
    .post('/moderations', (context) => guardrails.moderate(toCall(context), context.body), {
      scope: 'completions',
      body: checked(ModerationOrder),
      response: { 200: answer(Moderation), ...errors(400, 401, 403, 429) },
      detail: {
        summary: 'Score texts by category of harm; free, and no engine is called',
        description:
          'Where the policy bound to the key has `content_safety` rules for input, their categories and thresholds decide.',
      },
    })

/** `PUT /keys/{id}/guardrails` (docs/api.md 13). */
const bindingRoutes = (guardrails: GuardrailService, guard: Guard) =>
  new Elysia({ tags: ['Guardrails'] })
    .use(guard)
    .put('/keys/:id/guardrails', (context) => guardrails.bind(toCall(context), context.params.id, context.body), {
      scope: 'billing',
      params: checkedPath(t.Object({ id: t.String() })),
      body: checked(words.GuardrailBinding, { nulls: 'refused' }),
      response: { 200: answer(ApiKey), ...errors(400, 401, 403, 404, 429) },
      detail: { summary: 'Bind a guardrail policy to a key; null unbinds' },
    })
