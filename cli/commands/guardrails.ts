import type { NewPolicy, PolicyPatch } from '../../src/guardrails/schema'
import { randomBase62 } from '../../src/kernel/crypto'
import { defineCommand } from '../command'
import { expectData } from '../failure'
import { column } from '../output/columns'
import { printPages } from '../pages'
import { readValueFile } from '../preference-file'
import { POLICY_ID, policyArgument, policyColumns, policyFile } from './guardrails-columns'
import { diffPolicy, evaluateText, listBuiltins, testPolicy } from './guardrails-test'
import { ABOUT_FILES, pageQuery, ruleSetCommand, ruleSetListFlags } from './rule-sets'

export const listPolicies = defineCommand({
  ...ruleSetCommand,
  path: 'guardrails list',
  summary: 'List guardrail policies, newest first',
  about: 'Your own and those of your active organization; with an organization’s key those of the organization.',
  examples: ['guardrails list', 'guardrails list --only team --json'],
  impact: 'read',
  exits: [4, 7],
  columns: policyColumns,
  watchable: true,
  flags: ruleSetListFlags,
  async run(shell, { only, limit, cursor, all }) {
    const { client } = await (await shell.connect()).tenant()
    const page = async (from?: string) => {
      const query = pageQuery({ only, limit }, from)
      const found = expectData(await client['guardrail-policies'].get({ query }))
      return { items: found.guardrail_policies, next: found.next_cursor }
    }
    const empty = 'No guardrail policies. Create one: svc-admin guardrails create -f policy.yaml'
    await printPages(shell, { page, cursor, all, columns: policyColumns, empty })
  },
})

export const getPolicy = defineCommand({
  ...ruleSetCommand,
  path: 'guardrails get',
  summary: 'Show one guardrail policy with its rules',
  about: 'With --json it is what create and update take back.',
  examples: [`guardrails get ${POLICY_ID}`, `guardrails get ${POLICY_ID} --json`],
  impact: 'read',
  exits: [3, 4, 7],
  columns: policyColumns,
  args: policyArgument,
  async run(shell, { policy }) {
    const { client } = await (await shell.connect()).tenant()
    shell.print.item(
      expectData(await client['guardrail-policies']({ id: encodeURIComponent(policy) }).get()),
      policyColumns,
    )
  },
})

export const createPolicy = defineCommand({
  ...ruleSetCommand,
  path: 'guardrails create',
  summary: 'Create a guardrail policy from a file',
  about: `It is bound to no key yet, and says how to bind it. ${ABOUT_FILES}`,
  examples: ['guardrails create -f policy.yaml', 'guardrails create -f - --json'],
  impact: 'write',
  exits: [4, 5, 7, 10],
  columns: policyColumns,
  flags: policyFile,
  async run(shell, { file: from = '-' }) {
    const order = (await readValueFile(shell, from)) as NewPolicy
    if (shell.planned(`create a guardrail policy from ${from}`)) return
    const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
    const { client } = await (await shell.connect()).tenant()
    const made = expectData(await client['guardrail-policies'].post(order, { headers }))
    shell.print.item(made, policyColumns)
    shell.note(`Bound to no key. Bind it: svc-admin keys bind KEY --guardrails ${made.id}`)
  },
})

export const updatePolicy = defineCommand({
  ...ruleSetCommand,
  path: 'guardrails update',
  summary: 'Change a guardrail policy to what a file says',
  about: `In force for the next request. What the file leaves out stays; rules replace them all. ${ABOUT_FILES}`,
  examples: [`guardrails update ${POLICY_ID} -f policy.yaml`, `guardrails update ${POLICY_ID} -f - --json`],
  impact: 'write',
  exits: [3, 4, 5, 7, 10],
  columns: policyColumns,
  args: policyArgument,
  flags: policyFile,
  async run(shell, { policy, file: from = '-' }) {
    const patch = (await readValueFile(shell, from)) as PolicyPatch
    if (shell.planned(`change guardrail policy ${policy} to ${from}`)) return
    const { client } = await (await shell.connect()).tenant()
    shell.print.item(
      expectData(await client['guardrail-policies']({ id: encodeURIComponent(policy) }).patch(patch)),
      policyColumns,
    )
  },
})

const deleted = [column('id', 'ID'), column('deleted', 'DELETED', { kind: 'flag' })]

export const deletePolicy = defineCommand({
  ...ruleSetCommand,
  danger: 'moderate',
  path: 'guardrails delete',
  summary: 'Delete a guardrail policy and unbind its keys',
  about: 'Says on how many keys it is first; what they guarded is open from then on.',
  examples: [`guardrails delete ${POLICY_ID} --yes`, `guardrails delete ${POLICY_ID} --yes --json`],
  impact: 'write',
  exits: [3, 4, 7, 10],
  columns: deleted,
  args: policyArgument,
  async run(shell, { policy }) {
    const { client } = await (await shell.connect()).tenant()
    const one = client['guardrail-policies']({ id: encodeURIComponent(policy) })
    const { name, bound_key_count: keys, is_default } = expectData(await one.get())
    const standing = is_default ? ', the default of its scope' : ''
    const sentence = `delete guardrail policy ${name}, bound to ${keys} keys${standing}`
    if (shell.planned(sentence)) return
    shell.confirm(`${sentence[0]!.toUpperCase()}${sentence.slice(1)}?`)
    expectData(await one.delete())
    shell.print.item({ id: policy, deleted: true }, deleted)
  },
})

export const guardrailCommands = [
  listPolicies,
  getPolicy,
  createPolicy,
  updatePolicy,
  deletePolicy,
  listBuiltins,
  evaluateText,
  testPolicy,
  diffPolicy,
]
