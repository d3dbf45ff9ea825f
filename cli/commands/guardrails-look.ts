import type { GuardrailRule } from '../../src/guardrails/schema'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import { readTextFile, readValueFile } from '../preference-file'
import { resourceOver } from '../resource'
import { assertSeesContent } from '../roles'
import { resolveRuleSet } from '../rule-set'
import { optional } from '../words'
import { POLICY_ID, policyArgument, policyFile } from './guardrails-columns'
import { evaluatorOf, resultColumns, textFlags } from './guardrails-test'

const shared = { apis: ['tenant', 'operator'], impact: 'read' } as const

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
  summary: 'List every check that rules can use',
  about: 'Shows the phases and verdicts of each check. -o wide and --json add the JSON Schema of its config.',
  examples: ['guardrails builtins', 'guardrails builtins --json'],
  columns: builtinColumns,
  async run(shell) {
    const { api } = await apiOf(shell)
    shell.print.list(expectData(await api.guardrails.get()).guardrails, builtinColumns, 'There are none.')
  },
})

export const evaluateText = defineCommand({
  ...shared,
  path: 'guardrails evaluate',
  summary: 'Show what a policy finds in a text, rule by rule',
  about:
    'Tests every phase for which the policy has rules, or only --phase. Nothing is billed, stored or sent to an engine.',
  examples: [
    `guardrails evaluate ${POLICY_ID} "Write to ada@example.com"`,
    `guardrails evaluate ${POLICY_ID} -f prompt.txt --phase input --json`,
  ],
  exits: [3],
  columns: resultColumns,
  args: { ...policyArgument, text: optional('the text') },
  flags: textFlags,
  async run(shell, { policy, text: given, file, phase, tool }) {
    const asked = given ?? (file === undefined ? undefined : await readTextFile(shell, file))
    if (asked === undefined) {
      throw usageFailure('guardrails evaluate needs a TEXT.', `svc-admin guardrails evaluate ${policy} "Hello"`)
    }
    const { everyPhase } = await evaluatorOf(shell, policy)
    shell.print.list(await everyPhase(asked, { phase, tool }), resultColumns, 'The policy has no rules for this phase.')
  },
})

const diffColumns = [
  column('rule', 'RULE', { kind: 'number' }),
  column('change', 'CHANGE'),
  column('before', 'BEFORE'),
  column('after', 'AFTER'),
]

export const diffPolicy = defineCommand({
  ...shared,
  path: 'guardrails diff',
  summary: 'Show how a file would change each rule',
  about: 'Shows only the rules that differ, by their number in the list.',
  examples: [`guardrails diff ${POLICY_ID} -f policy.yaml`, `guardrails diff ${POLICY_ID} -f - --json`],
  exits: [3],
  columns: diffColumns,
  args: policyArgument,
  flags: policyFile,
  async run(shell, { policy, file: from = '-' }) {
    const { rules: after = [] } = (await readValueFile(shell, from)) as { rules?: GuardrailRule[] }
    await assertSeesContent(shell)
    const policies = await resourceOver(shell, 'guardrail-policies')
    const { rules: before } = await policies.get(await resolveRuleSet(policies, policy, 'guardrail policy'))
    const rows = Array.from({ length: Math.max(before.length, after.length) }, (_, index) => {
      const [old, made] = [said(before[index]), said(after[index])]
      const change = old === null ? 'added' : made === null ? 'removed' : 'changed'
      return { rule: index + 1, change, before: old, after: made }
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
