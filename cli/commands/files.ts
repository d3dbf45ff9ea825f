import { defined } from '../api'
import { commandsOf } from '../command'
import { columnsOf } from '../output/columns'
import { argument, choice } from '../words'

const columns = columnsOf`
  id ID keep, owner OF, filename FILE, purpose PURPOSE, size_bytes BYTES number, mime_type KIND wide,
  readers READ_BY number wide, created SENT time, expires_at UNTIL time`

const args = { id: argument('id of the file') }
const PURPOSES = ['batch', 'user_data', 'vision', 'batch_output'] as const

const command = commandsOf('files', { apis: ['operator'], columns })

export const fileCommands = [
  command`list: List the files that clients sent and that batches wrote, newest first
  These are the files of POST /files. Files that svc made are under "artifacts". What is in them is not shown.
  $ files list
  $ files list --purpose batch --org acme`({
    flags: { purpose: choice(PURPOSES, 'only files with this purpose') },
    paged: 'files',
    request: ({ ops, page, ownerFilter }, { purpose }) =>
      ops.files.get({ query: defined({ ...page, purpose, ...ownerFilter }) }),
    empty: 'No files yet. Clients send them with POST /files.',
  }),
  command`get: Show one file
  Its owner downloads it with GET /files/{id}/content.
  $ files get file-…`({ args, request: ({ ops }, { id }) => ops.files({ id: encodeURIComponent(id) }).get() }),
  command`delete: Delete a file
  It cannot be undone. A file that a batch reads is not deleted. Recorded as file.deleted.
  $ files delete file-… --dry-run
  $ files delete file-… --yes`({
    columns: columnsOf`id ID keep, deleted DELETED`,
    danger: 'moderate',
    exits: [3],
    args,
    action: ({ id }) => `delete the file ${id}`,
    question: ' It cannot be undone.',
    request: ({ ops }, { id }) => ops.files({ id: encodeURIComponent(id) }).delete(),
  }),
]

const batchColumns = columnsOf`
  id ID keep, owner OF, endpoint ENDPOINT, status STATUS, total LINES number, completed DONE number,
  failed FAILED number, job_id JOB wide, created CREATED time, expires_at UNTIL time wide`

const STATUSES = [
  ...(['validating', 'in_progress', 'finalizing', 'completed'] as const),
  ...(['failed', 'expired', 'cancelling', 'cancelled'] as const),
]
const batch = { id: argument('id of the batch') }

const batchCommand = commandsOf('batches', { apis: ['operator'], columns: batchColumns })

export const batchCommands = [
  batchCommand`list: List batches, newest first
  A batch is a file of calls. What its lines ask and what they were answered is not shown.
  $ batches list
  $ batches list --status in_progress --org acme`({
    flags: { status: choice(STATUSES, 'only batches with this status') },
    paged: 'batches',
    request: ({ ops, page, ownerFilter }, { status }) =>
      ops.batches.get({ query: defined({ ...page, status, ...ownerFilter }) }),
    empty: 'No batches yet. Clients create them with POST /batches.',
  }),
  batchCommand`get: Show one batch
  "jobs log" with the id of its job shows what was tried.
  $ batches get batch_…`({
    args: batch,
    request: ({ ops }, { id }) => ops.batches({ id: encodeURIComponent(id) }).get(),
  }),
  batchCommand`cancel: Cancel a batch
  Lines that run end, and the answers so far are written. It cannot be undone. Recorded as batch.cancelled.
  $ batches cancel batch_… --dry-run
  $ batches cancel batch_… --yes`({
    danger: 'moderate',
    args: batch,
    action: ({ id }) => `cancel the batch ${id}`,
    question: ' It cannot be undone.',
    request: ({ ops }, { id }) => ops.batches({ id: encodeURIComponent(id) }).cancel.post(),
  }),
]
