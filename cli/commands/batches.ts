import { commandsOf } from '../command'
import { expectData } from '../failure'
import { columnsOf } from '../output/columns'
import { pageFlags, pageIn, printPages } from '../pages'
import { argument, choice } from '../words'

const batchColumns = columnsOf`
  id ID keep, owner OF, endpoint ENDPOINT, status STATUS, total LINES number, completed DONE number,
  failed FAILED number, job_id JOB wide, created CREATED time, expires_at UNTIL time wide`

const STATUSES = [
  ...(['validating', 'in_progress', 'finalizing', 'completed'] as const),
  ...(['failed', 'expired', 'cancelling', 'cancelled'] as const),
]

const command = commandsOf('batches', { apis: ['operator'] })

const listBatches = command('list', {
  columns: batchColumns,
  summary: 'List batches, newest first',
  about: 'A batch is a file of calls. What its lines ask and what they were answered is not shown.',
  examples: ['batches list', 'batches list --status in_progress --org acme'],
  flags: { status: choice(STATUSES, 'only batches with this status'), ...pageFlags },
  async run(shell, { status, ...paging }) {
    const ops = (await shell.connect()).ops()
    const { org } = shell.globals
    const only = { ...(status ? { status } : {}), ...(org ? { owner: org } : {}) }
    await printPages(shell, paging, {
      page: (input) => pageIn(ops.batches.get({ query: { ...input, ...only } }), 'batches'),
      columns: batchColumns,
      empty: 'No batches yet. Clients create them with POST /batches.',
    })
  },
})

const getBatch = command('get', {
  columns: batchColumns,
  summary: 'Show one batch',
  about: '"jobs log" with the id of its job shows what was tried.',
  examples: ['batches get batch_…', 'batches get batch_… --json'],
  args: { id: argument('id of the batch') },
  async run(shell, { id }) {
    const one = (await shell.connect()).ops().batches({ id: encodeURIComponent(id) })
    shell.print.item(expectData(await one.get()), batchColumns)
  },
})

const cancelBatch = command('cancel', {
  columns: batchColumns,
  summary: 'Cancel a batch',
  about: 'Lines that run end, and the answers so far are written. It cannot be undone. Recorded as batch.cancelled.',
  examples: ['batches cancel batch_… --dry-run', 'batches cancel batch_… --yes'],
  impact: 'write',
  danger: 'moderate',
  exits: [3, 5],
  args: { id: argument('id of the batch') },
  async run(shell, { id }) {
    if (shell.planned(`cancel the batch ${id}`)) return
    shell.confirm(`Cancel the batch ${id}? It cannot be undone.`)
    const one = (await shell.connect()).ops().batches({ id: encodeURIComponent(id) })
    shell.print.item(expectData(await one.cancel.post()), batchColumns)
  },
})

export const batchCommands = [listBatches, getBatch, cancelBatch]
