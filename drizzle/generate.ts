/**
 * Generates the migrations of both databases from the list in `tables.ts`. Until the first release there is one
 * migration per dialect, regenerated each time; it ends with `guards.sql` (triggers, which tables cannot express).
 * `--check` changes nothing and exits 1 when the committed files differ from what would be generated.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getTableName } from 'drizzle-orm'
import { type FoundTable, findTables } from './tables'

const HERE = import.meta.dir
const ROOT = join(HERE, '..')
const BREAK = '--> statement-breakpoint\n'
const check = process.argv.includes('--check')

const tables = await findTables()
let drifted = false
for (const dialect of ['sqlite', 'postgres'] as const) {
  const out = mkdtempSync(join(tmpdir(), `svc-${dialect}-`))
  await generate(dialect, out)
  const made = fingerprint(out)
  const committed = join(HERE, dialect)
  if (made !== fingerprint(committed)) drifted = true
  if (!check) {
    for (const name of readdirSync(committed)) {
      if (name.endsWith('.sql') && name !== 'guards.sql') rmSync(join(committed, name))
    }
    rmSync(join(committed, 'meta'), { recursive: true, force: true })
    cpSync(out, committed, { recursive: true })
  }
  rmSync(out, { recursive: true })
}
if (check && drifted) {
  process.stderr.write('drizzle/ is not what the tables say. Run: bun run generate\n')
  process.exit(1)
}

async function generate(dialect: 'sqlite' | 'postgres', out: string): Promise<void> {
  const kind = dialect === 'postgres' ? 'postgresql' : 'sqlite'
  const schema = join(out, 'schema.ts')
  writeFileSync(schema, schemaOf(dialect))
  const command = ['bun', 'x', '--bun', 'drizzle-kit', 'generate', '--dialect', kind, '--schema', schema]
  const child = Bun.spawn([...command, '--out', out, '--name', 'init'], { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' })
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text())
  rmSync(schema)
  settle(out)
  const [file] = readdirSync(out).filter((name) => name.endsWith('.sql'))
  if (file && dialect === 'sqlite') cluster(join(out, file))
  const guards = join(HERE, dialect, 'guards.sql')
  if (!file || !existsSync(guards)) return
  writeFileSync(join(out, file), `${readFileSync(join(out, file), 'utf8')}${BREAK}${readFileSync(guards, 'utf8')}`)
}

/** The module that drizzle-kit reads: it exports each table as that dialect has it. */
function schemaOf(dialect: 'sqlite' | 'postgres'): string {
  const line = ({ file, name }: FoundTable, place: number) =>
    `import { ${name} as table${place} } from '${file}'\nexport const t${place} = table${place}.${dialect}\n`
  return tables.map(line).join('')
}

/** Writes `WITHOUT ROWID`, which drizzle cannot express. */
function cluster(file: string): void {
  const text = readFileSync(file, 'utf8')
  const names = tables.flatMap(({ table }) => (table.clustered ? [getTableName(table.sqlite)] : []))
  const named = new RegExp(`(CREATE TABLE \`(?:${names.join('|')})\` \\([\\s\\S]*?\\n\\));`, 'g')
  writeFileSync(file, text.replace(named, '$1 WITHOUT ROWID;'))
}

/** drizzle-kit writes the time and random ids; fixed values make the output depend on the tables only. */
function settle(out: string): void {
  const journal = join(out, 'meta/_journal.json')
  const entries = JSON.parse(readFileSync(journal, 'utf8'))
  for (const [place, entry] of entries.entries.entries()) entry.when = 1_767_225_600_000 + place
  writeFileSync(journal, `${JSON.stringify(entries, null, 2)}\n`)
  const snapshot = join(out, 'meta/0000_snapshot.json')
  const parsed = JSON.parse(readFileSync(snapshot, 'utf8'))
  parsed.id = '00000000-0000-0000-0000-000000000001'
  writeFileSync(snapshot, `${JSON.stringify(parsed, null, 2)}\n`)
}

function fingerprint(folder: string): string {
  if (!existsSync(join(folder, 'meta'))) return ''
  const files = [
    ...readdirSync(folder).filter((name) => /^\d.*\.sql$/.test(name)),
    'meta/_journal.json',
    'meta/0000_snapshot.json',
  ]
  return files
    .sort()
    .map((name) => `${name}\n${readFileSync(join(folder, name), 'utf8')}`)
    .join('\n')
}
