import type { Call, Caller } from '../../kernel/caller'
import { GUARDRAILS } from '../catalogue'
import type { GuardrailId, Phase } from '../guardrail'
import type { Judge } from '../judges'
import { compilePolicy, isOfRequests } from '../policy'
import { configSchemaOf } from '../rules'
import type { Evaluated, Evaluation, GuardrailCatalogue } from '../schema'
import { findSeen, type PolicyDeps } from './deps'

/** Looking at what there is, and trying a policy on a text. Nothing is billed, kept or sent to an engine. */
export function createTryOut({ store, judge }: Pick<PolicyDeps, 'store'> & { judge: Judge }) {
  return {
    /** `GET /guardrails`. */
    catalogue: (_call: Call<Caller>): GuardrailCatalogue => ({
      guardrails: [...GUARDRAILS.values()].map(({ id, description, phases, verdicts }) => ({
        ...{ guardrail_id: id, config_schema: configSchemaOf(id) },
        description: isOfRequests(id) ? `${description}. ${ALONE}` : description,
        ...{ phases: [...phases], verdicts: [...verdicts] },
      })),
    }),

    /** `POST /guardrail-policies/{id}/evaluate`: what every rule of the phase says, as in a run. Throws 404. */
    async evaluate(call: Call<Caller>, id: string, order: Evaluation): Promise<Evaluated> {
      const row = await findSeen(store.read, call.caller, id)
      const policy = await compilePolicy(row)
      const { phase, text, tool_name } = order
      const about = { phase, ...(tool_name === undefined ? {} : { tool: { name: tool_name } }) }
      const asked = { set: policy.of(phase), about, who: row.owner, signal: call.signal }
      const given = readAs(phase, text)
      const { value, results } = await judge.each(asked, given)
      return {
        results: asked.set.rules.map(({ guardrail_id, verdict }, place) => {
          const found = results[place]?.detail ?? null
          const detail = found ?? unseen(guardrail_id, order)
          return { guardrail_id, verdict, triggered: found !== null, detail }
        }),
        text: value === given ? text : typeof value === 'string' ? value : JSON.stringify(value),
      }
    },
  }
}

const ALONE =
  'Of what is sent it reads the prompt and what else the user said; system messages, answers of before and memories are orders and words of the caller, and pass.'

/** Arguments are JSON where they can be read as that, and results where they are an object or a list. */
function readAs(phase: Phase, text: string): unknown {
  if (phase !== 'tool_call' && phase !== 'tool_result') return text
  const value = readJson(text)
  return typeof value === 'object' || phase === 'tool_call' ? (value ?? text) : text
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** What a rule that did not fire could not look at, since nobody knows it outside a run; null where it saw all. */
function unseen(id: GuardrailId, { phase, tool_name }: Evaluation): string | null {
  if (id === 'system_prompt_leak') return 'not looked at: there is no system prompt outside a run'
  if (id === 'groundedness') return 'not looked at: there are no sources outside a run'
  if (phase !== 'tool_call' || tool_name !== undefined) return null
  if (id === 'tool_allowlist') return 'not looked at: "tool_name" was not sent'
  return 'in the arguments alone: "tool_name" was not sent'
}
