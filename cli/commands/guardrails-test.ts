import { type GuardrailRule, PHASES, type Phase } from '../../src/guardrails/schema'
import { defineCommand } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { readCorpus } from '../guardrail-corpus'
import { column } from '../output/columns'
import { readTextFile, readValueFile } from '../preference-file'
import type { Shell } from '../shell'
import { choice, flag, optional, text } from '../words'
import { POLICY_ID, policyArgument, policyFile } from './guardrails-columns'

const shared = { planes: ['tenant'], offline: true, impact: 'read', danger: 'none' } as const

const builtinColumns = [
  column('guardrail_id', 'GUARDRAIL'),
  column('phases', 'PHASES', { kind: 'list' }),
  column('verdicts', 'VERDICTS', { kind: 'list' }),
  column('description', 'LOOKS FOR'),
  column('config_schema', 'CONFIG', { wide: true }),
]

export const listBuiltins = defineCommand({
  ...shared,
  path: 'guardrails builtins',
  summary: 'List every check that rules may name',
  about: 'With its phases and verdicts; with --json also the JSON Schema of its config.',
  examples: ['guardrails builtins', 'guardrails builtins --json'],
  exits: [4, 7],
  columns: builtinColumns,
  async run(shell) {
    const { client } = await (await shell.connect()).tenant()
    shell.print.list(expectData(await client.guardrails.get()).guardrails, builtinColumns, 'There are none.')
  },
})

const resultColumns = [
  column('phase', 'PHASE'),
  column('guardrail_id', 'GUARDRAIL'),
  column('verdict', 'VERDICT'),
  column('triggered', 'FIRED', { kind: 'flag' }),
  column('detail', 'WHAT IT FOUND'),
  column('text', 'LEFT OF THE TEXT', { wide: true }),
]

export const evaluateText = defineCommand({
  ...shared,
  path: 'guardrails evaluate',
  summary: 'Show what a policy says of a text, rule by rule',
  about: 'In every phase it has rules for, unless --phase names one. Nothing is billed, kept or sent to an engine.',
  examples: [
    `guardrails evaluate ${POLICY_ID} "Write to ada@example.com"`,
    `guardrails evaluate ${POLICY_ID} -f prompt.txt --phase input --json`,
  ],
  exits: [3, 4, 7],
  columns: resultColumns,
  args: { ...policyArgument, text: optional('the text') },
  flags: {
    file: { ...text('FILE', 'a file that holds the text; - is stdin'), short: 'f' },
    phase: choice(PHASES, 'only the rules of this phase'),
    tool: text('NAME', 'in the tool phases: the tool that is called'),
  },
  async run(shell, { policy, text: given, file, phase, tool }) {
    const asked = given ?? (file === undefined ? undefined : await readTextFile(shell, file))
    if (asked === undefined) {
      throw usageFailure('guardrails evaluate needs a TEXT.', `svc-admin guardrails evaluate ${policy} "Hello"`)
    }
    const { evaluate, phases } = await evaluatorOf(shell, policy)
    const rows = []
    for (const one of phase ? [phase] : phases) rows.push(...(await evaluate(asked, one, tool)))
    shell.print.list(rows, resultColumns, 'The policy has no rules for this phase.')
  },
})

const caseColumns = [
  column('line', 'LINE', { kind: 'number' }),
  column('ok', 'OK', { kind: 'flag' }),
  column('phase', 'PHASE'),
  column('expected', 'EXPECTED'),
  column('got', 'GOT'),
  column('guardrails', 'FIRED', { kind: 'list' }),
  column('text', 'TEXT'),
]

export const testPolicy = defineCommand({
  ...shared,
  path: 'guardrails test',
  summary: 'Check a file of texts against what a policy should make of them',
  about:
    'One JSON object a line: {"text":"…","expected":"block"}, where expected is block, redact, flag or pass, and "phase" is input unless said. Prints every miss, and exits 9 when there is one. Nothing is billed, kept or sent to an engine.',
  examples: [`guardrails test ${POLICY_ID} -f corpus.jsonl`, `guardrails test ${POLICY_ID} -f - --every --json`],
  exits: [3, 4, 7, 9],
  columns: caseColumns,
  args: policyArgument,
  flags: {
    file: { ...text('FILE', 'the texts, one JSON object a line; - is stdin'), short: 'f' },
    every: flag('print the cases that pass, too'),
  },
  async run(shell, { policy, file, every }) {
    if (file === undefined) {
      throw usageFailure('guardrails test needs -f FILE.', `svc-admin guardrails test ${policy} -f corpus.jsonl`)
    }
    const cases = readCorpus(await readTextFile(shell, file), file)
    const { evaluate } = await evaluatorOf(shell, policy)
    const rows = []
    for (const one of cases) {
      const fired = (await evaluate(one.text, one.phase, one.tool)).filter(({ triggered }) => triggered)
      const got = gravest(fired.map(({ verdict }) => verdict))
      rows.push({ ...one, got, ok: got === one.expected, guardrails: fired.map((rule) => rule.guardrail_id) })
    }
    const missed = rows.filter(({ ok }) => !ok)
    shell.print.list(every ? rows : missed, caseColumns, 'Every text got what it should.')
    shell.note(`${rows.length - missed.length} of ${rows.length} texts as expected.`)
    if (missed.length) throw new CheckFailed()
  },
})

const gravest = (verdicts: readonly string[]): string =>
  ['block', 'redact', 'flag'].find((verdict) => verdicts.includes(verdict)) ?? 'pass'

async function evaluatorOf(shell: Shell, policy: string) {
  const { client } = await (await shell.connect()).tenant()
  const one = client['guardrail-policies']({ id: encodeURIComponent(policy) })
  const { rules } = expectData(await one.get())
  const phases = PHASES.filter((phase) => rules.some((rule) => rule.phase === phase))
  const evaluate = async (text: string, phase: Phase, tool?: string) => {
    const order = { text, phase, ...(tool ? { tool_name: tool } : {}) }
    const found = expectData(await one.evaluate.post(order))
    return found.results.map((result) => ({ phase, ...result, text: found.text }))
  }
  return { evaluate, phases }
}

const diffColumns = [
  column('rule', 'RULE', { kind: 'number' }),
  column('change', 'CHANGE'),
  column('before', 'BEFORE'),
  column('after', 'AFTER'),
]

export const diffPolicy = defineCommand({
  ...shared,
  path: 'guardrails diff',
  summary: 'Show rule by rule what a file would change',
  about: 'Only the rules that differ, by their place in the list.',
  examples: [`guardrails diff ${POLICY_ID} -f policy.yaml`, `guardrails diff ${POLICY_ID} -f - --json`],
  exits: [3, 4, 7],
  columns: diffColumns,
  args: policyArgument,
  flags: policyFile,
  async run(shell, { policy, file: from = '-' }) {
    const { rules: after = [] } = (await readValueFile(shell, from)) as { rules?: GuardrailRule[] }
    const { client } = await (await shell.connect()).tenant()
    const { rules: before } = expectData(await client['guardrail-policies']({ id: encodeURIComponent(policy) }).get())
    const rows = Array.from({ length: Math.max(before.length, after.length) }, (_, place) => {
      const [old, made] = [said(before[place]), said(after[place])]
      const change = old === null ? 'added' : made === null ? 'removed' : 'changed'
      return { rule: place + 1, change, before: old, after: made }
    })
    const different = rows.filter((row) => row.before !== row.after)
    shell.print.list(different, diffColumns, 'The rules are the same.')
  },
})

function said(rule: GuardrailRule | undefined): string | null {
  if (!rule) return null
  const { guardrail_id, phase, verdict, config = {} } = rule
  return `${guardrail_id} ${phase} ${verdict} ${JSON.stringify(config, Object.keys(config).sort())}`
}
