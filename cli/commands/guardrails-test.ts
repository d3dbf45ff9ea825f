import { PHASES, type Phase } from '../../src/guardrails/schema'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { readCorpus } from '../guardrail-corpus'
import { column } from '../output/columns'
import { readTextFile } from '../preference-file'
import { resourceOver } from '../resource'
import { resolveRuleSet } from '../rule-set'
import type { Shell } from '../shell'
import { choice, flag, text } from '../words'
import { POLICY_ID, policyArgument } from './guardrails-columns'

export const resultColumns = [
  column('phase', 'PHASE'),
  column('guardrail_id', 'GUARDRAIL'),
  column('verdict', 'VERDICT'),
  column('triggered', 'FIRED', { kind: 'flag' }),
  column('detail', 'WHAT IT FOUND'),
  column('text', 'LEFT OF THE TEXT', { wide: true }),
]

const caseColumns = [
  column('line', 'LINE', { kind: 'number' }),
  column('ok', 'OK', { kind: 'flag' }),
  column('phase', 'PHASE'),
  column('expected', 'EXPECTED'),
  column('got', 'GOT'),
  column('guardrails', 'FIRED', { kind: 'list' }),
  column('text', 'TEXT'),
]

export const textFlags = {
  file: { ...text('FILE', 'a file that contains the text; - reads stdin'), short: 'f' },
  phase: choice(PHASES, 'only the rules of this phase'),
  tool: text('NAME', 'in the tool phases: the tool that is called'),
}

export const testPolicy = defineCommand({
  apis: ['tenant', 'operator'],
  impact: 'read',
  path: 'guardrails test',
  summary: 'Test a policy on a text, or on a file of texts with expected results',
  about:
    'The text comes from --text, -f or stdin. Every rule is shown with its phase and verdict. A corpus has one JSON object per line: {"text":"…","expected":"block"}. Expected is block, redact, flag or pass; "phase" is input unless the line sets it. Exits 9 when any result differs. Nothing is billed, stored or sent to an engine.',
  examples: [
    `guardrails test ${POLICY_ID} --text "Write to ada@example.com"`,
    `guardrails test ${POLICY_ID} --corpus corpus.jsonl`,
    `guardrails test ${POLICY_ID} --corpus - --every --json`,
  ],
  exits: [3, 9],
  columns: [...resultColumns, ...caseColumns.filter(({ field }) => !['phase', 'text'].includes(field))],
  args: policyArgument,
  flags: {
    text: text('TEXT', 'the text; @FILE reads it from a file'),
    ...textFlags,
    corpus: text('FILE', 'texts with expected results, one JSON object per line; - reads stdin'),
    every: flag('with --corpus: also print the texts with the expected result'),
  },
  async run(shell, { policy, text: given, file, phase, tool, corpus, every }) {
    const texts = [given, file, corpus].filter((one) => one !== undefined)
    if (texts.length > 1) throw usageFailure('--text, -f and --corpus exclude each other. Use one.')
    const evaluator = await evaluatorOf(shell, policy)
    if (corpus !== undefined) return testCorpus(shell, evaluator, { corpus, every })
    const asked = given?.startsWith('@') ? await readTextFile(shell, given.slice(1)) : given
    const rows = await evaluator.everyPhase(asked ?? (await readTextFile(shell, file ?? '-')), { phase, tool })
    shell.print.list(rows, resultColumns, 'The policy has no rules for this phase.')
  },
})

type Evaluator = Awaited<ReturnType<typeof evaluatorOf>>

async function testCorpus(
  shell: Shell,
  { evaluate }: Evaluator,
  { corpus, every }: { corpus: string; every: boolean | undefined },
): Promise<void> {
  const rows = []
  for (const one of readCorpus(await readTextFile(shell, corpus), corpus)) {
    const fired = (await evaluate(one.text, one.phase, one.tool)).filter(({ triggered }) => triggered)
    const got = gravest(fired.map(({ verdict }) => verdict))
    rows.push({ ...one, got, ok: got === one.expected, guardrails: fired.map((rule) => rule.guardrail_id) })
  }
  const missed = rows.filter(({ ok }) => !ok)
  shell.print.list(every ? rows : missed, caseColumns, 'Every text got the expected result.')
  shell.note(`${rows.length - missed.length} of ${rows.length} texts as expected.`)
  if (missed.length) throw new CheckFailed()
}

const gravest = (verdicts: readonly string[]): string =>
  ['block', 'redact', 'flag'].find((verdict) => verdicts.includes(verdict)) ?? 'pass'

/** Returns a function that evaluates texts against one policy. */
export async function evaluatorOf(shell: Shell, policy: string) {
  const policies = await resourceOver(shell, 'guardrail-policies')
  const { api } = await apiOf(shell)
  const { id, rules } = await policies.get(await resolveRuleSet(policies, policy, 'guardrail policy'))
  const phases = PHASES.filter((phase) => rules.some((rule) => rule.phase === phase))
  const evaluate = async (asked: string, phase: Phase, tool?: string) => {
    const order = { text: asked, phase, ...(tool ? { tool_name: tool } : {}) }
    const found = expectData(await api['guardrail-policies']({ id }).evaluate.post(order))
    return found.results.map((result) => ({ phase, ...result, text: found.text }))
  }
  type Only = { phase: Phase | undefined; tool: string | undefined }
  const everyPhase = async (asked: string, { phase, tool }: Only) => {
    const rows = []
    for (const one of phase ? [phase] : phases) rows.push(...(await evaluate(asked, one, tool)))
    return rows
  }
  return { evaluate, everyPhase }
}
