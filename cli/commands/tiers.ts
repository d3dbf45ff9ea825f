import { TIERS } from '../../src/kernel/caller'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import { findKey } from '../resolve'
import { requireReason } from '../shell'
import { argument } from '../words'
import { keyArgument, columns as keyColumns } from './keys-columns'

const tierColumns = [
  column('id', 'TIER'),
  ...(['rpm', 'tpm', 'text', 'stealth', 'image', 'research', 'video'] as const).map((limit) =>
    column(limit, limit.toUpperCase(), { kind: 'number' }),
  ),
  column('changed', 'NOT-THE-DEFAULT', { kind: 'list' }),
]

const listTiers = defineCommand({
  path: 'tiers list',
  summary: 'Show the limits of each tier',
  about:
    'Shows requests, tokens, and the requests of each group of modes. NOT-THE-DEFAULT names the limits that SVC_TIERS changes.',
  examples: ['tiers list', 'tiers list --json'],
  apis: ['operator'],
  impact: 'read',
  columns: tierColumns,
  async run(shell) {
    const connection = await shell.connect()
    const { tiers } = expectData(await connection.ops().tiers.get())
    shell.print.list(tiers, tierColumns, 'No tiers.')
  },
})

const setTier = defineCommand({
  path: 'tiers set',
  summary: 'Move a key to another tier of rate limits',
  about: "Takes effect with the key's next request. If the limits rise, the owner is notified (rate_limit.upgraded).",
  examples: ['tiers set ci pro --reason "contract signed"', 'tiers set 3f9a01 free --reason "trial is over" --json'],
  apis: ['operator'],
  impact: 'write',
  exits: [3, 5],
  columns: keyColumns,
  args: { ...keyArgument, tier: argument(`one of ${TIERS.join(', ')}`) },
  async run(shell, { key, tier: word }) {
    const tier = TIERS.find((one) => one === word)
    if (!tier) throw usageFailure(`TIER is "${word}"; it must be one of ${TIERS.join(', ')}.`)
    requireReason(shell, 'tiers set')
    const connection = await shell.connect()
    const before = await findKey((await apiOf(shell)).api, key)
    if (shell.planned(`move key "${before.name}" from ${before.tier} to ${tier}`)) return
    shell.print.item(expectData(await connection.ops().tiers({ ref: before.id }).put({ tier })), keyColumns)
    shell.note(`undo: svc-admin tiers set ${before.id.slice(0, 8)} ${before.tier} --reason …`)
  },
})

export const tierCommands = [listTiers, setTier]
