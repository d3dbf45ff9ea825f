import type { CheckedBackup } from '../../src/app/backups'
import { columnsOf, commandsOf, defined } from '../command'
import { CheckFailed, conflictFailure, expectData, usageFailure } from '../failure'
import { readTextFile } from '../files'
import { readSecretInput } from '../secret'
import { overridesOf } from '../settings'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { argument, choice, duration, flag, repeated, text } from '../words'

const args = { folder: argument('the folder of the backup, or s3://bucket/folder') }
const command = commandsOf('backup', { apis: ['host'], exits: [], args })
const SECRET = /^AGE-SECRET-KEY-/
const RECIPIENT = /^age1[0-9a-z]+$/

const linesOf = (text: string): string[] => {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line && !line.startsWith('#'))
}

const columns = columnsOf`
  path FOLDER, file FILE, bytes BYTES number, sha256 SHA-256, files.count FILES number, encrypted.to FOR list,
  created CREATED time`

const identity = text('FILE', 'the age identity that opens an encrypted backup; - reads stdin')

const checkColumns = columnsOf`
  ok WHOLE flag, manifest.file FILE, manifest.files.count FILES number, manifest.version MADE-BY,
  manifest.created CREATED time, problems PROBLEMS list`

/** A path relative to the working directory of the call, or an unchanged bucket address. */
const placeOf = ({ cwd }: Shell, word: string): string => (word.startsWith('s3://') ? word : fromHere(cwd, word))

/** Checks a backup, wherever it is, and runs `work` on its folder. `identity` is the file with the one that opens it. */
export async function opened(
  shell: Shell,
  { folder, identity }: { folder: string; identity: string | undefined },
  work: (folder: string, found: CheckedBackup) => Promise<void>,
): Promise<void> {
  const { checked } = await import('../../src/app/backups')
  const identities = identity === undefined ? null : await identitiesOf(shell, identity)
  await checked(overridesOf(shell), { place: placeOf(shell, folder), identities }, work)
}

const rows = columnsOf`
  path FOLDER keep, created CREATED time, file FILE min, bytes BYTES number min, files.count FILES number min,
  encrypted.to FOR list wide, version MADE-BY min, sha256 SHA-256 wide`

/** Reports unreadable paths, so that they are not mistaken for deleted ones. */
function sayLeftOut(shell: Shell, unreachable: readonly { path: string; why: string }[]): undefined {
  for (const { path, why } of unreachable) shell.note(`skipped: ${path}. ${why}`)
}

const STORED_MS = 7 * 86_400_000

export const backupCommands = [
  command`create (operator, exits 5): Write a consistent copy of the database and the files while the server runs
  Creates a folder with the copy, its SHA-256 and the version of svc. It includes the files that svc created, with a list that sha256sum -c can check. Files in a bucket stay there. It does not include secrets.json, which decrypts the stored secrets; store that file somewhere else. Postgres is copied with pg_dump. --encrypt-to writes one file that only an age identity can open; the programs age and tar open it too. For a bucket, set SVC_FILES_S3_ENDPOINT, its region and its access key.
  $ backup create
  $ backup create --out /backups/monday --json
  $ backup create --out s3://backups/monday --encrypt-to recipients.txt`({
    columns,
    flags: {
      out: text('PLACE', 'a new folder, or s3://bucket/folder; backups/TIME in the data folder by default'),
      noArtifacts: flag('only the database, without the files that svc created'),
      encryptTo: repeated('RECIPIENT', 'an age recipient, age1…, or a file of recipients; age-keygen creates them'),
    },
    find: async (shell, { encryptTo }) => ({
      encrypt_to: encryptTo && (await Promise.all(encryptTo.map((word) => recipientsIn(shell, word)))).flat(),
    }),
    action: ({ out }) => `write a backup to ${out ?? 'backups/ in the data folder'}`,
    request({ ops, shell }, { out, noArtifacts, encrypt_to }) {
      const place = out === undefined ? undefined : placeOf(shell, out)
      return ops.backups.post(defined({ out: place, files: noArtifacts ? false : undefined, encrypt_to }))
    },
    note: () => 'The backup does not include secrets.json. Store a copy of that file somewhere else.',
  }),
  command`list (operator, shows backups): List the backups that still exist
  Lists the backups in the data folder, and those that --out wrote elsewhere on this machine or to a bucket. The newest is first. Backups that were moved are not listed.
  $ backup list`({
    columns: rows,
    request: ({ ops }) => ops.backups.get(),
    empty: 'There is no backup. Create one: svc-admin backup create',
    note: ({ unreachable }, _, shell) => sayLeftOut(shell, unreachable),
  }),
  command`verify FOLDER (exits 9): Check that a backup is complete, without a server
  Reads the whole backup and compares the SHA-256 of the database and of each file. It also checks the contents of a SQLite database, and that each artifact has its file. For an encrypted backup it compares only the whole file, unless --identity decrypts it into the temporary folder. Exits 9 when something is wrong.
  $ backup verify /backups/monday
  $ backup verify s3://backups/monday --identity key.txt --json`({
    columns: checkColumns,
    flags: { identity },
    run: (shell, input) =>
      opened(shell, input, async (_place, found) => {
        shell.print.item(found, checkColumns)
        if (!found.ok) throw new CheckFailed()
        const { tooNew } = await import('../../src/app/backups')
        const problem = found.manifest && tooNew(found.manifest)
        if (problem) shell.note(problem)
        if (found.manifest?.encrypted) shell.note('It is encrypted. --identity FILE checks its contents too.')
      }),
  }),
  command`prune (operator, writes, moderate): Delete old backups, but never the newest
  Deletes the backups of backup list that are older than --keep, 7 days by default. Everything else in their folders is deleted too. Recorded as operator.backups_pruned.
  $ backup prune --keep 30d --dry-run
  $ backup prune --keep 7d --yes`({
    columns: rows,
    flags: { keep: duration('7d', 'age from which a backup is deleted; 7d by default') },
    async run(shell, { keep = STORED_MS }) {
      const connection = await shell.connect()
      const prune = async (dry_run: boolean) =>
        expectData(await connection.ops().backups.prune.post({ older_than_ms: keep, dry_run }))
      const old = await prune(true)
      sayLeftOut(shell, old.unreachable)
      const what = `${old.removed.length} of ${old.kept + old.removed.length} backups, ${old.bytes} bytes`
      if (old.removed.length && shell.planned(`remove ${what}`)) return shell.print.list(old.removed, rows, '')
      if (!old.removed.length) return shell.print.list([], rows, 'No backup is that old.')
      shell.confirm(`Delete ${what}? This cannot be undone.`)
      shell.print.list((await prune(false)).removed, rows, 'No backup is that old.')
    },
  }),
  command`restore FOLDER (writes, exits 5 9): Restore a backup into an empty data folder or database
  Stop the server first. The backup is checked before it is restored, and nothing is overwritten. SVC_DATA_DIR must not contain svc.db or files, and SVC_DATABASE_URL must name an empty database. With --confirm and the name of the data folder, its svc.db, files and audit checkpoints are moved aside. Then copy secrets.json (mode 600) into it, start the server, and run verify.
  $ backup restore /backups/monday
  $ backup restore /backups/monday --into /srv/svc/data --dry-run
  $ backup restore /backups/monday --confirm data`({
    columns: checkColumns,
    flags: {
      only: choice(['tables', 'files'], 'only the database, or only the files'),
      into: text('DIR', 'the data folder to restore into; the configured one by default'),
      identity,
    },
    run: (shell, { into, only, ...which }) =>
      opened(shell, which, async (place, found) => {
        if (!found.manifest || !found.ok) {
          shell.print.item(found, checkColumns)
          throw new CheckFailed()
        }
        if (found.manifest.encrypted)
          throw usageFailure('The backup is encrypted.', 'add --identity FILE, with the identity of a recipient')
        const where = `${only ? ` (${only} alone)` : ''}${into === undefined ? '' : ` into ${into}`}`
        if (shell.planned(`restore ${found.manifest.file} of ${found.manifest.created}${where}`)) return
        const overrides = { ...overridesOf(shell), ...(into && { dataDir: fromHere(shell.cwd, into) }) }
        const { restore } = await import('../../src/app/backups')
        const how = { only, confirmed: shell.globals.confirm, now: shell.clock.now() }
        const stored = await restore(overrides, place, found.manifest, how).catch(({ message }: Error) => {
          throw conflictFailure(message)
        })
        shell.print.item(found, checkColumns)
        for (const path of stored) shell.note(`The previous data is at ${path}.`)
        shell.note('The data folder needs its secrets.json (mode 600). Then start the server and run svc-admin verify.')
      }),
  }),
]

/** The age recipient that a word is, or those of the file that it names. @throws CommandFailed 2 */
async function recipientsIn(shell: Shell, file: string): Promise<readonly string[]> {
  if (RECIPIENT.test(file)) return [file]
  if (SECRET.test(file)) throw usageFailure('--encrypt-to needs a recipient (age1…); this is a secret identity.')
  const lines = linesOf(await readTextFile(shell, file))
  if (lines.some((line) => SECRET.test(line)))
    throw usageFailure(
      `${file} contains an identity, which is secret; --encrypt-to needs recipients.`,
      `age-keygen -y ${file} > recipients.txt`,
    )
  if (lines.length && lines.every((line) => RECIPIENT.test(line))) return lines
  throw usageFailure(`${file} is not a file of age recipients with one per line (age1…).`, 'age-keygen prints one')
}

/** The identities in a file that age-keygen wrote. Error messages never quote them. @throws CommandFailed 2 */
async function identitiesOf(shell: Shell, fromFile: string): Promise<string[]> {
  const instead = 'add --identity FILE, a file that age-keygen wrote'
  const lines = linesOf(await readSecretInput(shell, { label: 'identity', fromFile, instead }))
  const { Decrypter } = await import('age-encryption')
  try {
    for (const line of lines) new Decrypter().addIdentity(line)
    if (lines.length) return lines
  } catch {
    // The error below replaces the library's message, which would repeat the secret.
  }
  throw usageFailure(`${fromFile} does not contain a readable age identity (AGE-SECRET-KEY-1…).`, instead)
}
