import { closeSync, openSync, writeSync } from 'node:fs'
import type { OpsClient } from '../../src/app/client'
import { centsToMicro, spellCents } from '../../src/kernel/money'
import { defineCommand } from '../command'
import { CommandFailed, EXIT, expectData } from '../failure'
import { eachEntry } from '../pages'
import type { Shell } from '../shell'
import { requireReason } from '../shell'
import { fromHere } from '../transport'
import { argument, text } from '../words'
import { createOrg, getOrg, listOrgs, ORG, orgColumns, step, updateOrg } from './orgs'

const deleteOrg = defineCommand({
  path: 'orgs delete',
  summary: 'Delete an organization and revoke its keys, permanently',
  about:
    "This cannot be undone. First it lists what will be deleted, and asks for the slug. The organization has no members afterwards, and its keys stop with the next request. Open invitations are cancelled, and the slug can be used again. The ledger, the usage and the audit record stay, under the organization's id. --export first writes the organization, its members and its keys to a file, without secrets.",
  examples: [
    'orgs delete acme --reason "contract ended"',
    'orgs delete acme --confirm acme --reason "contract ended" --export acme.json',
  ],
  apis: ['operator'],
  impact: 'write',
  danger: 'severe',
  exits: [3, 5],
  columns: orgColumns,
  args: { organization: argument(ORG) },
  flags: { export: text('FILE', 'first write the organization to a file that only you can read') },
  async run(shell, { organization, export: file }) {
    const reason = requireReason(shell, 'orgs delete')
    const connection = await shell.connect()
    const ops = connection.ops
    const found = expectData(
      await ops()
        .orgs({ ref: step(organization) })
        .get(),
    )
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
  try {
    const handle = openSync(path, 'wx', 0o600)
    writeSync(handle, `${JSON.stringify(whole, null, 2)}\n`)
    closeSync(handle)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'exists already' : `cannot be written (${code})`
    const message = `${path} ${why}. Nothing was deleted.`
    throw new CommandFailed({ exitCode: EXIT.conflict, code: 'conflict', message, fix: '--export another file' })
  }
  shell.note(`Wrote ${path}`)
}

const keysOf = (ops: () => OpsClient, org: string): Promise<object[]> =>
  Array.fromAsync(
    eachEntry(async (query) => {
      const { keys, next_cursor } = expectData(await ops().keys.get({ query: { org, ...query } }))
      return { items: keys, next: next_cursor }
    }),
  )

export const orgCommands = [listOrgs, getOrg, createOrg, updateOrg, deleteOrg]
