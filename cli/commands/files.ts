import { iso } from '../../src/kernel/clock'
import { counted } from '../../src/kernel/text'
import { columnsOf, commandsOf, defined } from '../command'
import { expectData } from '../failure'
import { pageIn } from '../pages'
import { operatedArgument } from '../resource'
import { choice, duration } from '../words'

const artifactColumns = columnsOf`
  id ID keep, owner OF, type TYPE, filename FILE, size_bytes BYTES number, mime_type KIND wide, model MODEL wide,
  created MADE time, expires_at UNTIL time min`

const ownerColumns = columnsOf`owner OF, files FILES number, bytes BYTES number`

const ageColumns = columnsOf`
  up_to_days AGE ${({ up_to_days }) => (up_to_days === null ? 'older' : `up to ${up_to_days} d`)},
  files FILES number, bytes BYTES number`

const TYPES = ['image', 'video', 'audio', 'code', 'document', 'file'] as const

const artifactCommand = commandsOf('artifacts', { apis: ['operator'] })

export const artifactCommands = [
  artifactCommand`list (pages items): List the files that svc created, newest first, or their total size
  --by org shows the total for each organization or user, the largest hundred. --by age groups files by age. --org shows only one organization or user. The prompts that created the files are not shown.
  $ artifacts list
  $ artifacts list --type video --org acme
  $ artifacts list --by org
  $ artifacts list --by age`({
    columns: [...artifactColumns, ...ownerColumns.slice(1), ageColumns[0]!],
    flags: {
      type: choice(TYPES, 'only files of this type'),
      by: choice(['org', 'age'], 'totals instead of files'),
    },
    async answer({ ops, ownerFilter, page }, { type, by }): Promise<object> {
      if (!by) {
        const files = await pageIn(
          ops.artifacts.get({ query: defined({ ...page, type, ...ownerFilter }) }),
          'artifacts',
        )
        return { ...files, columns: artifactColumns }
      }
      const { by_owner, by_age } = expectData(await ops['artifact-sizes'].get({ query: ownerFilter }))
      if (by === 'age') return { items: by_age, next: null, columns: ageColumns }
      return { items: by_owner, next: null, columns: ownerColumns, empty: 'No files yet.' }
    },
    empty: 'No files yet. Images, documents and videos appear here.',
  }),
  artifactCommand`get: Show one file
  Its owner reads it with GET /artifacts/{id}, which returns a link to it.
  $ artifacts get art_…`({
    columns: artifactColumns,
    args: {
      id: operatedArgument('file', /^art_\w{24}$/, (ops, query) => pageIn(ops.artifacts.get({ query }), 'artifacts')),
    },
    request: ({ ops }, { id }) => ops.artifacts({ id }).get(),
  }),
  artifactCommand`prune (moderate, exits 3): Delete old files
  The server does this by itself with SVC_FILES_RETENTION_DAYS. It cannot be undone. Links to the files stop working, and the files are not created again. Each deletion is recorded as artifact.deleted.
  $ artifacts prune --before 90d --dry-run
  $ artifacts prune --before 30d --org acme --yes`({
    columns: columnsOf`files DELETED number, bytes BYTES number`,
    flags: { before: duration('TIME', 'only files at least this old; 90d by default') },
    async find(shell, { before = 90 * 86_400_000 }) {
      const owner = shell.globals.org || undefined
      const input = defined({ before: iso(shell.clock.now() - before), owner })
      const { files, bytes } = expectData(
        await (await shell.connect()).ops().artifacts.prune.post({ ...input, count_only: true }),
      )
      const ofOwner = owner ? `, of ${owner}` : ''
      return {
        input,
        files,
        what: `${counted(files, 'file')} of ${counted(bytes, 'byte')}, created before ${input.before}${ofOwner}`,
      }
    },
    action: ({ what }) => `delete ${what}`,
    question: ({ files }) => (files ? ' It cannot be undone.' : null),
    request: ({ ops }, { input }) => ops.artifacts.prune.post(input),
  }),
]

const columns = columnsOf`
  id ID keep, owner OF, filename FILE, purpose PURPOSE, size_bytes BYTES number, mime_type KIND wide,
  readers READ_BY number wide, created SENT time, expires_at UNTIL time`

const args = {
  id: operatedArgument('file', /^file-\w{24}$/, (ops, query) => pageIn(ops.files.get({ query }), 'files')),
}
const PURPOSES = ['batch', 'user_data', 'vision', 'batch_output'] as const
const command = commandsOf('files', { apis: ['operator'], columns, args })

export const fileCommands = [
  command`list (pages files): List the files that clients sent and that batches wrote, newest first
  These are the files of POST /files. Files that svc made are under "artifacts". What is in them is not shown.
  $ files list
  $ files list --purpose batch --org acme`({
    flags: { purpose: choice(PURPOSES, 'only files with this purpose') },
    request: ({ ops, page, ownerFilter }, { purpose }) =>
      ops.files.get({ query: defined({ ...page, purpose, ...ownerFilter }) }),
    empty: 'No files yet. Clients send them with POST /files.',
  }),
  command`get ID: Show one file
  Its owner downloads it with GET /files/{id}/content.
  $ files get file-…`({ request: ({ ops }, { id }) => ops.files({ id }).get() }),
  command`delete ID (moderate, exits 3): Delete a file
  It cannot be undone. A file that a batch reads is not deleted. Recorded as file.deleted.
  $ files delete file-… --dry-run
  $ files delete file-… --yes`({
    columns: columnsOf`id ID keep, deleted DELETED`,
    action: ({ id }) => `delete the file ${id}`,
    question: ' It cannot be undone.',
    request: ({ ops }, { id }) => ops.files({ id }).delete(),
  }),
]

const batchColumns = columnsOf`
  id ID keep, owner OF, endpoint ENDPOINT, status STATUS, total LINES number, completed DONE number,
  failed FAILED number, job_id JOB wide, created CREATED time, expires_at UNTIL time wide`

const STATUSES = [
  ...(['validating', 'in_progress', 'finalizing', 'completed'] as const),
  ...(['failed', 'expired', 'cancelling', 'cancelled'] as const),
]
const batch = {
  id: operatedArgument('batch', /^batch_\w{24}$/, (ops, query) => pageIn(ops.batches.get({ query }), 'batches')),
}
const batchCommand = commandsOf('batches', { apis: ['operator'], columns: batchColumns, args: batch })

export const batchCommands = [
  batchCommand`list (pages batches): List batches, newest first
  A batch is a file of calls. What its lines ask and what they were answered is not shown.
  $ batches list
  $ batches list --status in_progress --org acme`({
    flags: { status: choice(STATUSES, 'only batches with this status') },
    request: ({ ops, page, ownerFilter }, { status }) =>
      ops.batches.get({ query: defined({ ...page, status, ...ownerFilter }) }),
    empty: 'No batches yet. Clients create them with POST /batches.',
  }),
  batchCommand`get ID: Show one batch
  "jobs log" with the id of its job shows what was tried.
  $ batches get batch_…`({
    request: ({ ops }, { id }) => ops.batches({ id }).get(),
  }),
  batchCommand`cancel ID (moderate): Cancel a batch
  Lines that run end, and the answers so far are written. It cannot be undone. Recorded as batch.cancelled.
  $ batches cancel batch_… --dry-run
  $ batches cancel batch_… --yes`({
    action: ({ id }) => `cancel the batch ${id}`,
    question: ' It cannot be undone.',
    request: ({ ops }, { id }) => ops.batches({ id }).cancel.post(),
  }),
]
