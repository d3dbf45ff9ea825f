import type { Call, Caller } from '../kernel/caller'
import type { Store } from '../kernel/store'
import { GUARDRAILS } from './catalogue'
import type { GuardrailId, Phase } from './guardrail'
import type { Inspection, RuleRunner } from './inspection-runner'
import { compilePolicy } from './policy-compile-policy'
import { configSchemaOf } from './policy-rule-config'
import { readsRequestsOnly } from './policy-rule-sets'
import type { Evaluated, Evaluation, GuardrailCatalogue } from './schema'
import type { Policies } from './service'

/** The catalogue, and trying a policy on a text. Nothing is billed, kept or sent to an engine (contract 12). */
export function createTryOut({ store, policies, runner }: { store: Store; policies: Policies; runner: RuleRunner }) {
  return {
    /** `GET /guardrails`. */
    catalogue: (): GuardrailCatalogue => ({
      guardrails: [...GUARDRAILS.values()].map(({ id, description, phases, verdicts }) => ({
        guardrail_id: id,
        description: readsRequestsOnly(id) ? `${description}. ${REQUESTS_ONLY}` : description,
        phases: [...phases],
        verdicts: [...verdicts],
        config_schema: configSchemaOf(id),
      })),
    }),

    /** `POST /guardrail-policies/{id}/evaluate`: what every rule of the phase finds. Throws 404. */
    async evaluate(call: Call<Caller>, id: string, input: Evaluation): Promise<Evaluated> {
      const row = await policies.find(store.read, call.caller, id)
      const policy = await compilePolicy(row)
      const { phase, text, tool_name } = input
      const about = { phase, ...(tool_name === undefined ? {} : { tool: { name: tool_name } }) }
      const inspection: Inspection = { set: policy.of(phase), about, who: row.owner, signal: call.signal }
      const given = readAs(phase, text)
      const { value, findings } = await runner.everyRule(inspection, given)
      return {
        results: inspection.set.rules.map(({ guardrail_id, verdict }, index) => {
          const found = findings[index]?.detail ?? null
          const detail = found ?? notSeen(guardrail_id, input)
          return { guardrail_id, verdict, triggered: found !== null, detail }
        }),
        text: value === given ? text : typeof value === 'string' ? value : JSON.stringify(value),
      }
    },
  }
}

const REQUESTS_ONLY =
  'In the input phase it checks the prompt and the other user messages, but not system messages, earlier answers and memories.'

/** Arguments of a tool are parsed where they are JSON, and its results where they are an object or an array. */
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

/** What a rule that did not fire could not read, because only a run has it; null where it read everything. */
function notSeen(id: GuardrailId, { phase, tool_name }: Evaluation): string | null {
  if (id === 'system_prompt_leak') return 'not checked: only a run has a system prompt'
  if (id === 'groundedness') return 'not checked: only a run has sources'
  if (phase !== 'tool_call' || tool_name !== undefined) return null
  if (id === 'tool_allowlist') return 'not checked: "tool_name" was not sent'
  return 'only the arguments were checked: "tool_name" was not sent'
}
