import { defineCommand } from '../command'
import { expectData } from '../failure'
import { hookAt } from '../hook-at'
import { column } from '../output/columns'
import { pageFlags, printPages } from '../pages'
import { argument } from '../words'

const runs = [
  column('id', 'ID', { keep: true }),
  column('status', 'STATUS'),
  column('error', 'WHY'),
  column('costCents', 'CENTS', { kind: 'number' }),
  column('createdAt', 'AT', { kind: 'time' }),
  column('completedAt', 'ENDED', { kind: 'time', wide: true }),
  column('eventId', 'EVENT', { wide: true }),
  column('output', 'OUTPUT', { wide: true }),
]

const listRuns = defineCommand({
  apis: ['tenant', 'operator'],
  columns: runs,
  path: 'hooks runs',
  summary: 'List the runs of a hook, newest first',
  about: 'If an event did not run the skill, it shows why: the cooldown, the credit or the daily limit.',
  examples: ['hooks runs 5b1f0c7e-…', 'hooks runs 5b1f0c7e-… --watch --json'],
  impact: 'read',
  exits: [3],
  watchable: true,
  args: { id: argument('id of the hook') },
  flags: pageFlags,
  async run(shell, { id, ...paging }) {
    const { one } = await hookAt(shell, id)
    await printPages(shell, paging, {
      page: async (input) => {
        const found = expectData(await one.executions.get({ query: input }))
        return { items: found.executions, next: found.next_cursor }
      },
      columns: runs,
      empty: 'No event has matched it yet.',
    })
  },
})

export const hookRunCommands = [listRuns]
