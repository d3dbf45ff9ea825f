/**
 * Adds a migration to both databases: what changed in the tables of `tables.ts` since the last one.
 *
 *     bun run generate NAME             # after a change of a table; asks on a terminal what was renamed
 *     bun run generate NAME --custom    # an empty one, for what tables cannot express: triggers, data
 *     bun run generate --check          # changes nothing; exits 1 when one is missing or a released one was changed
 *
 * A released migration is never changed: `released.sha256` has its hash. One that is new on your branch may be deleted,
 * with its snapshot and its entry in the journal, and made again.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { getTableName } from 'drizzle-orm'
import { sha256Hex } from '../src/kernel/crypto'
import { type FoundTable, findTables } from './tables'

const HERE = import.meta.dir
const ROOT = join(HERE, '..')
const BREAK = '--> statement-breakpoint\n'
const FIRST_MS = 1_767_225_600_000
const DIALECTS = ['sqlite', 'postgres'] as const
type Dialect = (typeof DIALECTS)[number]
type Journal = { entries: { tag: string; when: number }[] }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean', default: false }, custom: { type: 'boolean', default: false } },
})
const name = positionals[0] ?? 'tables'
const tables = await findTables()
const scratch = mkdtempSync(join(tmpdir(), 'svc-migrations-'))
try {
  const problems = await run()
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  process.exitCode = problems.length ? 1 : 0
} finally {
  rmSync(scratch, { recursive: true })
}

/** Returns a sentence for everything that is wrong. */
async function run(): Promise<string[]> {
  const problems = changedReleases()
  for (const dialect of DIALECTS) cpSync(join(HERE, dialect), join(scratch, dialect), { recursive: true })
  const added = new Map<Dialect, string | null>()
  for (const dialect of DIALECTS) added.set(dialect, await generate(dialect, values.custom))
  const lacking = DIALECTS.filter((dialect) => added.get(dialect) !== null)
  if (values.check)
    return [
      ...problems,
      ...lacking.map((dialect) => `drizzle/${dialect} lacks a change of the tables. Run: bun run generate NAME`),
    ]
  if (!lacking.length || problems.length) return problems
  for (const dialect of DIALECTS) {
    // Both databases have as many, so that a number means the same on both.
    const tag = added.get(dialect) ?? (await generate(dialect, true))!
    const file = join(scratch, dialect, `${tag}.sql`)
    if (added.get(dialect) === null) writeFileSync(file, 'SELECT 1;\n')
    problems.push(...mistakesIn(file))
  }
  if (!problems.length)
    for (const dialect of DIALECTS) cpSync(join(scratch, dialect), join(HERE, dialect), { recursive: true })
  return problems
}

/** Lets drizzle-kit add a migration to the copy of a folder. Returns its tag, or null when nothing changed. */
async function generate(dialect: Dialect, isCustom: boolean): Promise<string | null> {
  const out = join(scratch, dialect)
  const before = journalOf(out).entries.length
  const text = await runKit(dialect, isCustom, ['ignore', 'pipe', 'pipe'])
  const added = () => journalOf(out).entries[before]?.tag ?? null
  if (added() === null && text.includes('No schema changes')) return null
  // It exits 0 when it fails. Most often it has a question, which a terminal can answer.
  if (added() === null && !values.check) await runKit(dialect, isCustom, ['inherit', 'inherit', 'inherit'])
  const tag = added()
  if (tag === null) throw new Error(`drizzle-kit added nothing:\n${text}`)
  settle(out)
  if (!isCustom && dialect === 'sqlite') complete(out, tag)
  return tag
}

/** Returns what drizzle-kit printed, where that is not the terminal's. */
async function runKit(
  dialect: Dialect,
  isCustom: boolean,
  stdio: ['ignore' | 'inherit', 'pipe' | 'inherit', 'pipe' | 'inherit'],
): Promise<string> {
  const schema = join(scratch, `${dialect}.ts`)
  writeFileSync(schema, schemaOf(dialect))
  const kind = dialect === 'postgres' ? 'postgresql' : 'sqlite'
  // It puts `./` before the folder.
  const out = relative(ROOT, join(scratch, dialect))
  const command = ['bun', 'x', '--bun', 'drizzle-kit', 'generate', '--dialect', kind, '--schema', schema, '--out', out]
  const child = Bun.spawn([...command, '--name', name, ...(isCustom ? ['--custom'] : [])], { cwd: ROOT, stdio })
  const texts = [child.stdout, child.stderr].map((stream) => (stream ? new Response(stream).text() : ''))
  await child.exited
  return (await Promise.all(texts)).join('')
}

/** The module that drizzle-kit reads: it exports each table as that dialect has it. */
function schemaOf(dialect: Dialect): string {
  const line = ({ file, name }: FoundTable, place: number) =>
    `import { ${name} as table${place} } from '${file}'\nexport const t${place} = table${place}.${dialect}\n`
  return tables.map(line).join('')
}

/**
 * Adds what drizzle cannot express on SQLite: `WITHOUT ROWID`, and the triggers of a table that is made anew. Such a table
 * is filled from the one before, where a new column would be read as a text in quotes.
 */
function complete(out: string, tag: string): void {
  const file = join(out, `${tag}.sql`)
  const text = readFileSync(file, 'utf8')
  const names = tables.flatMap(({ table }) => (table.clustered ? [getTableName(table.sqlite)] : []))
  const named = new RegExp(`(CREATE TABLE \`(?:__new_)?(?:${names.join('|')})\` \\([\\s\\S]*?\\n\\));`, 'g')
  const place = journalOf(out).entries.length - 2
  const old = JSON.parse(readFileSync(snapshotOf(out, place), 'utf8')).tables
  const filled = text.replace(
    /^INSERT INTO `__new_(\w+)`\((.*?)\) SELECT .*? FROM `\w+`;/gm,
    (_, table: string, columns: string) => {
      const isOld = (column: string) => column in old[table].columns || text.includes(` TO \`${column}\`;`)
      const remaining = columns.split(', ').filter((column) => isOld(column.slice(1, -1)))
      return `INSERT INTO \`__new_${table}\`(${remaining.join(', ')}) SELECT ${remaining.join(', ')} FROM \`${table}\`;`
    },
  )
  const anew = [...text.matchAll(/^ALTER TABLE `__new_\w+` RENAME TO `(\w+)`/gm)].map(([, table]) => table!)
  const guards = anew.flatMap((table) => triggersOf(out, table))
  writeFileSync(file, [filled.replace(named, '$1 WITHOUT ROWID;'), ...guards].join(`\n${BREAK}`))
}

/** The triggers that the migrations so far put on a table, each as it was made last. */
function triggersOf(folder: string, table: string): string[] {
  const scripts = readdirSync(folder).filter((file) => file.endsWith('.sql'))
  const statements = scripts.sort().flatMap((file) => readFileSync(join(folder, file), 'utf8').split(BREAK))
  const made = statements.flatMap((text) => {
    const [, trigger] = new RegExp(`^CREATE TRIGGER \`(\\w+)\` .*? ON \`${table}\` `).exec(text) ?? []
    return trigger ? [[trigger, text.trim()] as const] : []
  })
  return [...new Map(made).values()]
}

/** drizzle-kit writes the time and random ids; fixed values make the output depend on the tables only. */
function settle(out: string): void {
  const journal = journalOf(out)
  for (const [place, entry] of journal.entries.entries()) entry.when = FIRST_MS + place
  writeJson(join(out, 'meta/_journal.json'), journal)
  const place = journal.entries.length - 1
  const id = (number: number) => `00000000-0000-0000-0000-${String(number).padStart(12, '0')}`
  const snapshot = snapshotOf(out, place)
  writeJson(snapshot, { ...JSON.parse(readFileSync(snapshot, 'utf8')), id: id(place + 1), prevId: id(place) })
}

/** What would fail on a database that has rows. */
function mistakesIn(file: string): string[] {
  const added = readFileSync(file, 'utf8').match(/^ALTER TABLE .* ADD .* NOT NULL.*$/gm) ?? []
  return added
    .filter((line) => !/ DEFAULT /.test(line))
    .map((line) => `A column that is added to rows needs a default or may be null: ${line}`)
}

/** Compares the released migrations with their hashes. */
function changedReleases(): string[] {
  const lines = readFileSync(join(HERE, 'released.sha256'), 'utf8').trim().split('\n')
  return lines.flatMap((line) => {
    const [hash, path] = line.split('  ')
    return sha256Hex(readFileSync(join(HERE, path!))) === hash
      ? []
      : [`drizzle/${path} was released and may not change. Put it back, and add a migration: bun run generate NAME`]
  })
}

function snapshotOf(folder: string, place: number): string {
  return join(folder, `meta/${String(place).padStart(4, '0')}_snapshot.json`)
}

function journalOf(folder: string): Journal {
  return JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8'))
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}
