import type { Call, Caller } from '../../kernel/caller'
import { GUARDRAILS } from '../catalogue'
import type { Judge } from '../judges'
import { compilePolicy } from '../policy'
import { configSchemaOf } from '../rules'
import type { Evaluated, Evaluation, GuardrailCatalogue } from '../schema'
import { findSeen, type PolicyDeps } from './deps'

/** Looking at what there is, and trying a policy on a text. Nothing is billed, kept or sent to an engine. */
export function createTryOut({ store, judge }: Pick<PolicyDeps, 'store'> & { judge: Judge }) {
  return {
    /** `GET /guardrails`. */
    catalogue: (_call: Call<Caller>): GuardrailCatalogue => ({
      guardrails: [...GUARDRAILS.values()].map(({ id, description, phases, verdicts }) => ({
        ...{ guardrail_id: id, description, config_schema: configSchemaOf(id) },
        ...{ phases: [...phases], verdicts: [...verdicts] },
      })),
    }),

    /** `POST /guardrail-policies/{id}/evaluate`: what every rule of the phase says. Throws 404. */
    async evaluate(call: Call<Caller>, id: string, { text, phase, tool_name }: Evaluation): Promise<Evaluated> {
      const row = await findSeen(store.read, call.caller, id)
      const policy = await compilePolicy(row)
      const about = { phase, ...(tool_name === undefined ? {} : { tool: { name: tool_name } }) }
      const asked = { set: policy.of(phase), about, who: row.owner, signal: call.signal }
      const { judgement, results } = await judge.each(asked, text)
      return {
        results: asked.set.rules.map(({ guardrail_id, verdict }, place) => {
          const detail = results[place]?.detail ?? null
          return { guardrail_id, verdict, triggered: detail !== null, detail }
        }),
        text: judgement.text,
      }
    },
  }
}
