import { randomBase62 } from '../../src/kernel/crypto'
import type { NewPreference, PreferencePatch } from '../../src/routing-preferences/schema'
import { defineCommand } from '../command'
import { expectData } from '../failure'
import { column } from '../output/columns'
import { printPages } from '../pages'
import { readValueFile } from '../preference-file'
import type { Shell } from '../shell'
import { PREFERENCE_ID, preferenceArgument, preferenceColumns, preferenceFile } from './routing-columns'
import { listCorrections, suggestRule } from './routing-suggest'
import { previewRouting, testRouting } from './routing-test'
import { ABOUT_FILES, pageQuery, ruleSetCommand, ruleSetListFlags } from './rule-sets'

const planeOf = async (shell: Shell) => (await shell.connect()).tenant()

export const listPreferences = defineCommand({
  ...ruleSetCommand,
  path: 'routing list',
  summary: 'List routing preferences, newest first',
  about: 'Your own and those of your organizations; with an organization’s key those of the organization.',
  examples: ['routing list', 'routing list --only team --json'],
  impact: 'read',
  exits: [4, 7],
  columns: preferenceColumns,
  watchable: true,
  flags: ruleSetListFlags,
  async run(shell, { only, limit, cursor, all }) {
    const { client } = await planeOf(shell)
    const page = async (from?: string) => {
      const query = pageQuery({ only, limit }, from)
      const found = expectData(await client['routing-preferences'].get({ query }))
      return { items: found.routing_preferences, next: found.next_cursor }
    }
    const empty = 'No routing preferences. Create one: svc-admin routing create -f preference.yaml'
    await printPages(shell, { page, cursor, all, columns: preferenceColumns, empty })
  },
})

export const getPreference = defineCommand({
  ...ruleSetCommand,
  path: 'routing get',
  summary: 'Show one routing preference with its rules and examples',
  about: 'With --json it is what create and update take back.',
  examples: [`routing get ${PREFERENCE_ID}`, `routing get ${PREFERENCE_ID} --json`],
  impact: 'read',
  exits: [3, 4, 7],
  columns: preferenceColumns,
  args: preferenceArgument,
  async run(shell, { preference }) {
    const { client } = await planeOf(shell)
    shell.print.item(expectData(await client['routing-preferences']({ id: preference }).get()), preferenceColumns)
  },
})

export const createPreference = defineCommand({
  ...ruleSetCommand,
  path: 'routing create',
  summary: 'Create a routing preference from a file',
  about: `It is bound to no key yet, and says how to bind it. ${ABOUT_FILES}`,
  examples: ['routing create -f preference.yaml', 'routing create -f - --json'],
  impact: 'write',
  exits: [4, 5, 7, 10],
  columns: preferenceColumns,
  flags: preferenceFile,
  async run(shell, { file: from = '-' }) {
    const order = (await readValueFile(shell, from)) as NewPreference
    if (shell.planned(`create a routing preference from ${from}`)) return
    const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
    const { client } = await planeOf(shell)
    const made = expectData(await client['routing-preferences'].post(order, { headers }))
    shell.print.item(made, preferenceColumns)
    shell.note(`Bound to no key. Bind it: svc-admin keys bind KEY --routing ${made.id}`)
  },
})

export const updatePreference = defineCommand({
  ...ruleSetCommand,
  path: 'routing update',
  summary: 'Change a routing preference to what a file says',
  about: `What the file leaves out stays; lists replace. ${ABOUT_FILES}`,
  examples: [`routing update ${PREFERENCE_ID} -f preference.yaml`, `routing update ${PREFERENCE_ID} -f - --json`],
  impact: 'write',
  exits: [3, 4, 5, 7, 10],
  columns: preferenceColumns,
  args: preferenceArgument,
  flags: preferenceFile,
  async run(shell, { preference, file: from = '-' }) {
    const patch = (await readValueFile(shell, from)) as PreferencePatch
    if (shell.planned(`change routing preference ${preference} to ${from}`)) return
    const { client } = await planeOf(shell)
    shell.print.item(
      expectData(await client['routing-preferences']({ id: preference }).patch(patch)),
      preferenceColumns,
    )
  },
})

const deleted = [column('id', 'ID'), column('deleted', 'DELETED', { kind: 'flag' })]

export const deletePreference = defineCommand({
  ...ruleSetCommand,
  danger: 'moderate',
  path: 'routing delete',
  summary: 'Delete a routing preference and unbind its keys',
  about: 'Says on how many keys it is first.',
  examples: [`routing delete ${PREFERENCE_ID} --yes`, `routing delete ${PREFERENCE_ID} --yes --json`],
  impact: 'write',
  exits: [3, 4, 7, 10],
  columns: deleted,
  args: preferenceArgument,
  async run(shell, { preference }) {
    const { client } = await planeOf(shell)
    const one = client['routing-preferences']({ id: preference })
    const { name, bound_key_count: keys } = expectData(await one.get())
    const sentence = `delete routing preference ${name}, bound to ${keys} keys`
    if (shell.planned(sentence)) return
    shell.confirm(`${sentence[0]!.toUpperCase()}${sentence.slice(1)}?`)
    expectData(await one.delete())
    shell.print.item({ id: preference, deleted: true }, deleted)
  },
})

export const routingCommands = [
  listPreferences,
  getPreference,
  createPreference,
  updatePreference,
  deletePreference,
  previewRouting,
  testRouting,
  suggestRule,
  listCorrections,
]
