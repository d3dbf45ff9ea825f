import { type GuardrailRule, PHASES, type Phase } from '../../src/guardrails/schema'
import { apiOf, columnsOf, commandsOf } from '../command'
import { expectData, usageFailure } from '../failure'
import { readTextFile, readValueFile, testCases } from '../files'
import { resolveRuleSet, resourceOver } from '../resource'
import { assertSeesContent } from '../roles'
import type { Shell } from '../shell'
import { argument, choice, flag, optional, text } from '../words'
import { defaultVerbs, fileCommands, KEYS_STAY, ruleSetColumns, ruleSetFile } from './resource-commands'

export const POLICY_ID = '4c1d7a52-9a0f-4c43-8b30-7d3c7f1f4e21'

/** From the gravest. */
const OUTCOMES = ['block', 'redact', 'flag', 'pass']

/** One text of a corpus and the verdict expected from the policy. */
type CorpusCase = { line: number; text: string; phase: Phase; expected: string; tool?: string }

const resultColumns = columnsOf`
  phase PHASE, guardrail_id GUARDRAIL, verdict VERDICT, triggered FIRED flag, detail WHAT IT FOUND,
  text LEFT OF THE TEXT wide`

const caseColumns = columnsOf`
  line LINE number, ok OK flag, phase PHASE, expected EXPECTED, got GOT, guardrails FIRED list, text TEXT`

const textFlags = {
  file: { ...text('FILE', 'a file that contains the text; - reads stdin'), short: 'f' },
  phase: choice(PHASES, 'only the rules of this phase'),
  tool: text('NAME', 'in the tool phases: the tool that is called'),
}

const args = { policy: argument('id or name of the guardrail policy'), text: optional('the text') }
const command = commandsOf('guardrails', { apis: ['tenant', 'operator'], args })

/** Guardrail policies (docs/operating.md 2.10). Also available as `policies guardrails`. */
export const guardrailCommands = [
  ...fileCommands({
    path: 'guardrail-policies',
    resource: 'guardrails',
    what: 'guardrail policy',
    many: 'guardrail policies',
    columns: ruleSetColumns(),
    id: POLICY_ID,
    file: 'policy.yaml',
    arg: 'policy',
    stays: KEYS_STAY,
    bound: { flag: '--guardrails', holds: (key, id) => key.guardrail_policy_id === id },
  }),
  ...defaultVerbs('guardrails', POLICY_ID),
  command`builtins (exits, shows guardrails): List every check that rules can use
  Shows the phases and verdicts of each check. -o wide and --json add the JSON Schema of its config.
  $ guardrails builtins`({
    columns: columnsOf`
      guardrail_id GUARDRAIL, phases PHASES list, verdicts VERDICTS list, description LOOKS FOR,
      config_schema CONFIG wide`,
    request: ({ api }) => api.guardrails.get(),
    empty: 'There are none.',
  }),
  command`evaluate POLICY TEXT: Show what a policy finds in a text, rule by rule
  Tests every phase for which the policy has rules, or only --phase. Nothing is billed, stored or sent to an engine.
  $ guardrails evaluate ${POLICY_ID} "Write to ada@example.com"
  $ guardrails evaluate ${POLICY_ID} -f prompt.txt --phase input --json`({
    columns: resultColumns,
    flags: textFlags,
    async answer({ shell }, { policy, text: given, file, phase, tool }) {
      const content = given ?? (file === undefined ? undefined : await readTextFile(shell, file))
      if (content === undefined)
        throw usageFailure('guardrails evaluate needs a TEXT.', `svc-admin guardrails evaluate ${policy} "Hello"`)
      return (await evaluatorOf(shell, policy)).everyPhase(content, { phase, tool })
    },
    empty: 'The policy has no rules for this phase.',
  }),
  command`test POLICY (exits 3 9): Test a policy on a text, or on a file of texts with expected results
  The text comes from --text, -f or stdin. Every rule is shown with its phase and verdict. A corpus has one JSON object per line: {"text":"…","expected":"block"}. Expected is block, redact, flag or pass; "phase" is input unless the line sets it. Exits 9 when any result differs. Nothing is billed, stored or sent to an engine.
  $ guardrails test ${POLICY_ID} --text "Write to ada@example.com"
  $ guardrails test ${POLICY_ID} --corpus corpus.jsonl
  $ guardrails test ${POLICY_ID} --corpus - --every --json`({
    columns: [...resultColumns, ...caseColumns.filter(({ field }) => !['phase', 'text'].includes(field))],
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
      if (corpus !== undefined)
        return testCases(shell, {
          file: corpus,
          every,
          read({ text, phase = 'input', expected, tool }, line): CorpusCase {
            const isKnown = PHASES.includes(phase as Phase) && OUTCOMES.includes(expected as string)
            const form = `{"text":"…","phase":"input","expected":"${OUTCOMES.join('|')}"}`
            if (typeof text !== 'string' || !isKnown) throw usageFailure(`Line ${line} of ${corpus} is not ${form}.`)
            const named = typeof tool === 'string' ? { tool } : {}
            return { line, text, phase: phase as Phase, expected: expected as string, ...named }
          },
          async judge(one) {
            const fired = (await evaluator.evaluate(one.text, one.phase, one.tool)).filter(({ triggered }) => triggered)
            const got = OUTCOMES.find((one) => fired.some(({ verdict }) => verdict === one)) ?? 'pass'
            return { ...one, got, ok: got === one.expected, guardrails: fired.map((rule) => rule.guardrail_id) }
          },
          columns: caseColumns,
          what: 'text',
        })
      const content = given?.startsWith('@') ? await readTextFile(shell, given.slice(1)) : given
      const rows = await evaluator.everyPhase(content ?? (await readTextFile(shell, file ?? '-')), { phase, tool })
      shell.print.list(rows, resultColumns, 'The policy has no rules for this phase.')
    },
  }),
  command`diff POLICY: Show how a file would change each rule
  Shows only the rules that differ, by their number in the list.
  $ guardrails diff ${POLICY_ID} -f policy.yaml
  $ guardrails diff ${POLICY_ID} -f - --json`({
    columns: columnsOf`rule RULE number, change CHANGE, before BEFORE, after AFTER`,
    flags: ruleSetFile('policy'),
    find: async (shell, { file = '-' }) => ({
      given: (await readValueFile(shell, file)) as { rules?: GuardrailRule[] },
    }),
    async answer({ shell }, { policy, given: { rules: after = [] } }) {
      await assertSeesContent(shell)
      const policies = await resourceOver(shell, 'guardrail-policies')
      const { rules: before } = await policies.get(await resolveRuleSet(policies, policy, 'guardrail policy'))
      return Array.from({ length: Math.max(before.length, after.length) }, (_, index) => {
        const [old, made] = [textOf(before[index]), textOf(after[index])]
        const change = old === null ? 'added' : made === null ? 'removed' : 'changed'
        return { rule: index + 1, change, before: old, after: made }
      }).filter((row) => row.before !== row.after)
    },
    empty: 'The rules are the same.',
  }),
]

function textOf(rule: GuardrailRule | undefined): string | null {
  if (!rule) return null
  const { guardrail_id, phase, verdict, config = {} } = rule
  return `${guardrail_id} ${phase} ${verdict} ${JSON.stringify(config, Object.keys(config).sort())}`
}

/** Returns a function that evaluates texts against one policy. */
async function evaluatorOf(shell: Shell, policy: string) {
  const policies = await resourceOver(shell, 'guardrail-policies')
  const { api } = await apiOf(shell)
  const { id, rules } = await policies.get(await resolveRuleSet(policies, policy, 'guardrail policy'))
  const phases = PHASES.filter((phase) => rules.some((rule) => rule.phase === phase))
  const evaluate = async (content: string, phase: Phase, tool?: string) => {
    const input = { text: content, phase, ...(tool ? { tool_name: tool } : {}) }
    const found = expectData(await api['guardrail-policies']({ id }).evaluate.post(input))
    return found.results.map((result) => ({ phase, ...result, text: found.text }))
  }
  type Only = { phase: Phase | undefined; tool: string | undefined }
  const everyPhase = async (content: string, { phase, tool }: Only) => {
    const rows = []
    for (const one of phase ? [phase] : phases) rows.push(...(await evaluate(content, one, tool)))
    return rows
  }
  return { evaluate, everyPhase }
}
