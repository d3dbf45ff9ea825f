import { closeSync, writeSync } from 'node:fs'
import type { OpsClient } from '../../src/app/client'
import { centsToMicro, spellCents } from '../../src/kernel/money'
import { counted } from '../../src/kernel/text'
import { columnsOf, commandsOf, defined } from '../command'
import { expectData, usageFailure } from '../failure'
import { ORG_TYPES } from '../org-words'
import { everyKey } from '../resource'
import { openNewFile } from '../secret'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { argument, choice, type FlagsGiven, text } from '../words'

const orgColumns = columnsOf`
  id, name NAME, slug SLUG, type TYPE, member_count MEMBERS number, plan_note PLAN NOTE wide,
  suspended_at SUSPENDED time wide, created CREATED time, updated UPDATED time wide`

const orgDetailColumns = [
  ...orgColumns,
  ...columnsOf`
    key_count KEYS number, balance_cents BALANCE¢ money, held_cents HELD¢ money, deleted_at DELETED time`,
]

const args = { organization: argument('org by id, 6 or more characters of it, slug or exact name') }

const command = commandsOf('orgs', { apis: ['operator'], columns: orgColumns, args })

const looks = {
  slug: text('SLUG', 'lower-case letters, digits and hyphens'),
  planNote: text('TEXT', 'a note about its plan, which only operators see'),
}

const changes = {
  name: text('NAME', 'the new name'),
  slug: looks.slug,
  type: choice(ORG_TYPES, 'what kind of organization'),
  planNote: looks.planNote,
}

export const orgCommands = [
  command`list (exits, pages orgs): List organizations, newest first
  Lists every organization except deleted ones; orgs get finds those by id.
  $ orgs list
  $ orgs list --all -o csv > orgs.csv`({
    request: ({ ops, page }) => ops.orgs.get({ query: page }),
    empty: 'No organizations. Create one: svc-admin orgs create NAME --owner EMAIL',
  }),
  command`get ORGANIZATION (exits 3 5): Show one organization with its members, keys and credit
  Counts its members and its working keys. You can find a deleted organization by its id.
  $ orgs get acme
  $ orgs get "Tide & Sons" --json`({
    columns: orgDetailColumns,
    request: ({ ops }, { organization }) => ops.orgs({ ref: organization }).get(),
  }),
  command`create: Create an organization with its owner
  The owner is an account of this server. Without --owner it is the account that the first start created. Without --slug the slug comes from the name.
  $ orgs create Acme --owner ada@example.com
  $ orgs create "Tide & Sons" --type agency --slug tide --json`({
    args: { name: argument('name of the organization') },
    flags: {
      owner: text('USER', 'the owner: id or e-mail address'),
      slug: looks.slug,
      type: choice(ORG_TYPES, 'what kind of organization; team by default'),
      planNote: looks.planNote,
    },
    action: ({ name }) => `create organization "${name}"`,
    request: ({ ops }, { name, owner, slug, type, planNote }) =>
      ops.orgs.post(
        defined({ name, owner: owner || undefined, slug: slug || undefined, type, plan_note: planNote || undefined }),
      ),
  }),
  command`update ORGANIZATION: Change the name, slug, type or plan note of an organization
  Settings that you do not name stay the same. An empty --plan-note removes the note.
  $ orgs update acme --name "Acme Inc"
  $ orgs update acme --plan-note "invoiced until March" --json`({
    flags: changes,
    action({ organization, ...change }) {
      const named = Object.keys(bodyOf(change))
      if (named.length) return `change ${named.join(', ')} of ${organization}`
      throw usageFailure('orgs update needs at least one flag.', 'add --name, --slug, --type or --plan-note')
    },
    request: ({ ops }, { organization, ...change }) => ops.orgs({ ref: organization }).patch(bodyOf(change)),
  }),
  command`delete ORGANIZATION (severe, reason): Delete an organization and revoke its keys, permanently
  This cannot be undone. First it lists what will be deleted, and asks for the slug. The organization has no members afterwards, and its keys stop with the next request. Open invitations are cancelled, and the slug can be used again. The ledger, the usage and the audit record stay, under the organization's id. --export first writes the organization, its members and its keys to a file, without secrets.
  $ orgs delete acme --reason "contract ended"
  $ orgs delete acme --confirm acme --reason "contract ended" --export acme.json`({
    flags: { export: text('FILE', 'first write the organization to a file that only you can read') },
    async find(shell, { organization }) {
      const ops = (await shell.connect()).ops()
      return { found: expectData(await ops.orgs({ ref: organization }).get()) }
    },
    action: ({ found }) => `delete organization "${found.name}": ${whatGoes(found)}`,
    question: ({ found }) => `Delete organization "${found.name}"? This ends ${whatGoes(found)}. It cannot be undone.`,
    named: ({ found }) => found.slug,
    async request({ ops, shell }, { found, export: file }) {
      if (file !== undefined) await exportTo(shell, ops, file, found)
      return ops.orgs({ ref: found.id }).delete()
    },
    note: (_, { found }, { globals }) => `Deleted organization "${found.name}": ${globals.reason}`,
  }),
]

const bodyOf = ({ planNote, ...change }: FlagsGiven<typeof changes>) =>
  defined({ ...change, plan_note: planNote === undefined ? undefined : planNote || null })

type Found = { id: string; name: string; member_count: number; key_count: number; balance_cents: number }

const whatGoes = ({ member_count, key_count, balance_cents }: Found): string =>
  `${counted(member_count, 'membership')} and ${counted(key_count, 'key')}, and leaves ` +
  `${spellCents(centsToMicro(balance_cents))} cents of credit that can no longer be spent`

/** Completes the file before anything is deleted. An existing file stops the command. */
async function exportTo(shell: Shell, ops: OpsClient, file: string, org: Found): Promise<void> {
  const { members } = expectData(await ops.orgs({ ref: org.id }).members.get())
  const keys = await everyKey(ops, { org: org.id })
  const path = fromHere(shell.cwd, file)
  const handle = openNewFile(path, 'Nothing was deleted.', '--export another file')
  writeSync(handle, `${JSON.stringify({ organization: org, members, keys }, null, 2)}\n`)
  closeSync(handle)
  shell.note(`Wrote ${path}`)
}
