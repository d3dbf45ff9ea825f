import { centsToMicro, spellCents } from '../../src/kernel/money'
import { clean } from '../../src/kernel/text'
import { safeJson } from '../output/json'

export type TryBody = { prompt: string; mode?: string; skills?: string[]; stream?: boolean }

/** The facts of a completion, whole or streamed. */
export type Answer = {
  id: string
  content: string
  mode: string
  resolved_mode: string
  model: { id: string; label: string }
  usage: { cost_cents: number; total_tokens: number; cached?: boolean }
  request_id: string
  warnings?: string[]
}

/** The summary under an answer (dx 4.1): engine, mode, cost, duration. */
export function summaryOf(
  { model, mode, resolved_mode, usage, request_id, warnings = [] }: Answer,
  ms: number,
): string[] {
  const route = mode === resolved_mode ? mode : `${mode} → ${resolved_mode}`
  const cost = `${spellCents(centsToMicro(usage.cost_cents))}¢`
  const facts = [
    `model ${model.id} (${model.label})`,
    `mode ${route}`,
    cost,
    `${usage.total_tokens} tokens`,
    `${ms} ms`,
  ]
  return [
    '',
    clean(facts.join('  ')),
    `request ${clean(request_id)}`,
    ...(usage.cached ? ['served from cache, free'] : []),
    ...warnings.map((warning) => `warning: ${clean(warning)}`),
  ]
}

/** The same call as a curl command, for use without this tool. It never contains the key itself. */
export function sameCall(body: TryBody, origin: string, keySource: string): string[] {
  const named = /^SVC_[A-Z_]+$/.test(keySource)
  return [
    'same call:',
    ...(named ? [] : [`  export SVC_API_KEY=$(cat ${quoted(keySource)})`]),
    `  curl ${body.stream ? '-N ' : ''}${origin}/api/v1/completions \\`,
    `    -H "Authorization: Bearer $${named ? keySource : 'SVC_API_KEY'}" \\`,
    '    -H "Content-Type: application/json" \\',
    `    -d ${quoted(safeJson(body), true)}`,
  ]
}

/** Quotes a word for the shell when necessary. */
const quoted = (text: string, always = false): string =>
  always || !/^[\w./@:+-]+$/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : text
