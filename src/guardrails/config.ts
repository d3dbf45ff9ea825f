import { setting } from '../kernel/config'
import { form } from '../kernel/form'
import { t } from '../kernel/schema'

/** Settings of the guardrails module (docs/api.md 12). */
export const guardrailSettings = {
  maxPolicies: setting({
    env: 'SVC_MAX_POLICIES',
    schema: t.Integer({ minimum: 1, maximum: 1_000_000 }),
    default: 500,
    about: 'How many guardrail policies one person or organization can have.',
  }),
  guardrailEngine: setting({
    env: 'SVC_GUARDRAIL_ENGINE',
    schema: t.String({
      pattern: form('^[a-z0-9][a-z0-9-]{0,63}$', 'auto, off or the id of an engine, such as svc-1-flash'),
    }),
    default: 'auto',
    about:
      'Engine that checks texts when the local checks for injections, jailbreaks, safety and topics are unsure: an id such as svc-1-flash, auto for the engine of short questions, or off. In a stream it checks at most four passages before they are shown, and the rest at the end. Callers pay nothing for it.',
  }),
}
