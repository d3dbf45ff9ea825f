import { closeSync, writeSync } from 'node:fs'
import type { OpsClient } from '../../src/app/client'
import { centsToMicro, spellCents } from '../../src/kernel/money'
import { defined } from '../api'
import { commandsOf } from '../command'
import { expectData, usageFailure } from '../failure'
import { ORG_TYPES } from '../org-words'
import { columnsOf } from '../output/columns'
import { eachEntry, type PageQuery, pageFlags, pageIn, printPages } from '../pages'
import { openNewFile } from '../secret'
import { requireReason, type Shell } from '../shell'
import { fromHere } from '../transport'
import { argument, choice, text } from '../words'

const orgColumns = columnsOf`
  id, name NAME, slug SLUG, type TYPE, member_count MEMBERS number, plan_note PLAN NOTE wide,
  suspended_at SUSPENDED time wide, created CREATED time, updated UPDATED time wide`

const orgDetailColumns = [
  ...orgColumns,
  ...columnsOf`
    key_count KEYS number, balance_cents BALANCE¢ money, held_cents HELD¢ money, deleted_at DELETED time`,
]

const ORG = 'org by id, 6 or more characters of it, slug or exact name'

/** Encodes a name or slug as one segment of a URL path. */
export const step = (ref: string): string => encodeURIComponent(ref)

async function orgAt(shell: Shell, ref: string) {
  return { one: (await shell.connect()).ops().orgs({ ref: step(ref) }) }
}

const command = commandsOf('orgs', { apis: ['operator'], columns: orgColumns })

const listOrgs = command('list', {
  summary: 'List organizations, newest first',
  about: 'Lists every organization except deleted ones; orgs get finds those by id.',
  examples: ['orgs list', 'orgs list --all -o csv > orgs.csv'],
  watchable: true,
  flags: pageFlags,
  exits: [],
  async run(shell, paging) {
    const ops = (await shell.connect()).ops
    const page = (query: PageQuery) => pageIn(ops().orgs.get({ query }), 'orgs')
    const empty = 'No organizations. Create one: svc-admin orgs create NAME --owner EMAIL'
    await printPages(shell, paging, { page, columns: orgColumns, empty })
  },
})

const getOrg = command('get', {
  summary: 'Show one organization with its members, keys and credit',
  about: 'Counts its members and its working keys. You can find a deleted organization by its id.',
  examples: ['orgs get acme', 'orgs get "Tide & Sons" --json'],
  exits: [3, 5],
  columns: orgDetailColumns,
  watchable: true,
  args: { organization: argument(ORG) },
  async run(shell, { organization }) {
    const { one } = await orgAt(shell, organization)
    shell.print.item(expectData(await one.get()), orgDetailColumns)
  },
})

const createOrg = command('create', {
  summary: 'Create an organization with its owner',
  about:
    'The owner is an account of this server. Without --owner it is the account that the first start created. Without --slug the slug comes from the name.',
  examples: ['orgs create Acme --owner ada@example.com', 'orgs create "Tide & Sons" --type agency --slug tide --json'],
  impact: 'write',
  args: { name: argument('name of the organization') },
  flags: {
    owner: text('USER', 'the owner: id or e-mail address'),
    slug: text('SLUG', 'lower-case letters, digits and hyphens'),
    type: choice(ORG_TYPES, 'what kind of organization; team by default'),
    planNote: text('TEXT', 'a note about its plan, which only operators see'),
  },
  async run(shell, { name, owner, slug, type, planNote }) {
    if (shell.planned(`create organization "${name}"`)) return
    const body = defined({
      name,
      owner: owner || undefined,
      slug: slug || undefined,
      type,
      plan_note: planNote || undefined,
    })
    shell.print.item(expectData(await (await shell.connect()).ops().orgs.post(body)), orgColumns)
  },
})

const updateOrg = command('update', {
  summary: 'Change the name, slug, type or plan note of an organization',
  about: 'Settings that you do not name stay the same. An empty --plan-note removes the note.',
  examples: ['orgs update acme --name "Acme Inc"', 'orgs update acme --plan-note "invoiced until March" --json'],
  impact: 'write',
  args: { organization: argument(ORG) },
  flags: {
    name: text('NAME', 'the new name'),
    slug: text('SLUG', 'lower-case letters, digits and hyphens'),
    type: choice(ORG_TYPES, 'what kind of organization'),
    planNote: text('TEXT', 'a note about its plan, which only operators see'),
  },
  async run(shell, { organization, name, slug, type, planNote }) {
    const body = defined({ name, slug, type, plan_note: planNote === undefined ? undefined : planNote || null })
    const named = Object.keys(body)
    if (!named.length) {
      throw usageFailure('orgs update needs at least one flag.', 'add --name, --slug, --type or --plan-note')
    }
    if (shell.planned(`change ${named.join(', ')} of ${organization}`)) return
    const { one } = await orgAt(shell, organization)
    shell.print.item(expectData(await one.patch(body)), orgColumns)
  },
})

const deleteOrg = command('delete', {
  summary: 'Delete an organization and revoke its keys, permanently',
  about:
    "This cannot be undone. First it lists what will be deleted, and asks for the slug. The organization has no members afterwards, and its keys stop with the next request. Open invitations are cancelled, and the slug can be used again. The ledger, the usage and the audit record stay, under the organization's id. --export first writes the organization, its members and its keys to a file, without secrets.",
  examples: [
    'orgs delete acme --reason "contract ended"',
    'orgs delete acme --confirm acme --reason "contract ended" --export acme.json',
  ],
  impact: 'write',
  danger: 'severe',
  args: { organization: argument(ORG) },
  flags: { export: text('FILE', 'first write the organization to a file that only you can read') },
  async run(shell, { organization, export: file }) {
    const reason = requireReason(shell, 'orgs delete')
    const connection = await shell.connect()
    const ops = connection.ops
    const found = expectData(await (await orgAt(shell, organization)).one.get())
    if (shell.planned(`delete organization "${found.name}": ${whatGoes(found)}`)) return
    shell.confirmName(
      `Delete organization "${found.name}"? This ends ${whatGoes(found)}. It cannot be undone.`,
      found.slug,
    )
    if (file !== undefined) await exportTo(shell, ops, file, found)
    shell.print.item(expectData(await ops().orgs({ ref: found.id }).delete()), orgColumns)
    shell.note(`Deleted organization "${found.name}": ${reason}`)
  },
})

type Found = { id: string; name: string; member_count: number; key_count: number; balance_cents: number }

const whatGoes = ({ member_count, key_count, balance_cents }: Found): string =>
  `${counted(member_count, 'membership')} and ${counted(key_count, 'key')}, and leaves ` +
  `${spellCents(centsToMicro(balance_cents))} cents of credit that can no longer be spent`

const counted = (count: number, resource: string): string => `${count} ${resource}${count === 1 ? '' : 's'}`

/** The file is complete before anything is deleted; an existing file stops the command. */
async function exportTo(shell: Shell, ops: () => OpsClient, file: string, org: Found): Promise<void> {
  const { members } = expectData(await ops().orgs({ ref: org.id }).members.get())
  const whole = { organization: org, members, keys: await keysOf(ops, org.id) }
  const path = fromHere(shell.cwd, file)
  const handle = openNewFile(path, 'Nothing was deleted.', '--export another file')
  writeSync(handle, `${JSON.stringify(whole, null, 2)}\n`)
  closeSync(handle)
  shell.note(`Wrote ${path}`)
}

const keysOf = (ops: () => OpsClient, org: string): Promise<object[]> =>
  Array.fromAsync(eachEntry((query) => pageIn(ops().keys.get({ query: { org, ...query } }), 'keys')))

export const orgCommands = [listOrgs, getOrg, createOrg, updateOrg, deleteOrg]
