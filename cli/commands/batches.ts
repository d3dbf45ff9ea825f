import { defined } from '../api'
import { commandsOf } from '../command'
import { columnsOf } from '../output/columns'
import { argument, choice } from '../words'

const columns = columnsOf`
  id ID keep, owner OF, endpoint ENDPOINT, status STATUS, total LINES number, completed DONE number,
  failed FAILED number, job_id JOB wide, created CREATED time, expires_at UNTIL time wide`

const STATUSES = [
  ...(['validating', 'in_progress', 'finalizing', 'completed'] as const),
  ...(['failed', 'expired', 'cancelling', 'cancelled'] as const),
]
const args = { id: argument('id of the batch') }

const command = commandsOf('batches', { apis: ['operator'], columns })

export const batchCommands = [
  command`list: List batches, newest first
  A batch is a file of calls. What its lines ask and what they were answered is not shown.
  $ batches list
  $ batches list --status in_progress --org acme`({
    flags: { status: choice(STATUSES, 'only batches with this status') },
    paged: 'batches',
    request: ({ ops, page, ownerFilter }, { status }) =>
      ops.batches.get({ query: defined({ ...page, status, ...ownerFilter }) }),
    empty: 'No batches yet. Clients create them with POST /batches.',
  }),
  command`get: Show one batch
  "jobs log" with the id of its job shows what was tried.
  $ batches get batch_…`({ args, request: ({ ops }, { id }) => ops.batches({ id: encodeURIComponent(id) }).get() }),
  command`cancel: Cancel a batch
  Lines that run end, and the answers so far are written. It cannot be undone. Recorded as batch.cancelled.
  $ batches cancel batch_… --dry-run
  $ batches cancel batch_… --yes`({
    danger: 'moderate',
    args,
    action: ({ id }) => `cancel the batch ${id}`,
    question: ' It cannot be undone.',
    request: ({ ops }, { id }) => ops.batches({ id: encodeURIComponent(id) }).cancel.post(),
  }),
]
