import { commandsOf } from '../command'
import { expectData } from '../failure'
import { columnsOf } from '../output/columns'
import { pageFlags, pageIn, printPages } from '../pages'
import { argument, choice } from '../words'

const fileColumns = columnsOf`
  id ID keep, owner OF, filename FILE, purpose PURPOSE, size_bytes BYTES number, mime_type KIND wide,
  readers READ_BY number wide, created SENT time, expires_at UNTIL time`

const PURPOSES = ['batch', 'user_data', 'vision', 'batch_output'] as const

const command = commandsOf('files', { apis: ['operator'] })

const listFiles = command('list', {
  columns: fileColumns,
  summary: 'List the files that clients sent and that batches wrote, newest first',
  about: 'These are the files of POST /files. Files that svc made are under "artifacts". What is in them is not shown.',
  examples: ['files list', 'files list --purpose batch --org acme'],
  flags: { purpose: choice(PURPOSES, 'only files with this purpose'), ...pageFlags },
  async run(shell, { purpose, ...paging }) {
    const ops = (await shell.connect()).ops()
    const { org } = shell.globals
    const only = { ...(purpose ? { purpose } : {}), ...(org ? { owner: org } : {}) }
    await printPages(shell, paging, {
      page: (input) => pageIn(ops.files.get({ query: { ...input, ...only } }), 'files'),
      columns: fileColumns,
      empty: 'No files yet. Clients send them with POST /files.',
    })
  },
})

const getFile = command('get', {
  columns: fileColumns,
  summary: 'Show one file',
  about: 'Its owner downloads it with GET /files/{id}/content.',
  examples: ['files get file-…', 'files get file-… --json'],
  args: { id: argument('id of the file') },
  async run(shell, { id }) {
    const one = (await shell.connect()).ops().files({ id: encodeURIComponent(id) })
    shell.print.item(expectData(await one.get()), fileColumns)
  },
})

const deletedColumns = columnsOf`id ID keep, deleted DELETED`

const deleteFile = command('delete', {
  columns: deletedColumns,
  summary: 'Delete a file',
  about: 'It cannot be undone. A file that a batch reads is not deleted. Recorded as file.deleted.',
  examples: ['files delete file-… --dry-run', 'files delete file-… --yes'],
  impact: 'write',
  danger: 'moderate',
  exits: [3],
  args: { id: argument('id of the file') },
  async run(shell, { id }) {
    if (shell.planned(`delete the file ${id}`)) return
    shell.confirm(`Delete the file ${id}? It cannot be undone.`)
    const one = (await shell.connect()).ops().files({ id: encodeURIComponent(id) })
    shell.print.item(expectData(await one.delete()), deletedColumns)
  },
})

export const fileCommands = [listFiles, getFile, deleteFile]
