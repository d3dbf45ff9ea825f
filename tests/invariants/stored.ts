import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'

/** Every byte a server has put away: its folder as it lies there, and, on Postgres, every row of every table. */
export async function everythingStored(folder: string, databaseUrl: string | null): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const path = join(folder, name)
    if (statSync(path).isFile()) found.set(name, readFileSync(path, 'latin1'))
  }
  if (databaseUrl) for (const [table, rows] of await everyRow(databaseUrl)) found.set(table, rows)
  return found
}

async function everyRow(url: string): Promise<[string, string][]> {
  const client = new SQL(url, { max: 1 })
  try {
    const tables = (await client`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`) as {
      tablename: string
    }[]
    const dump = async ({ tablename }: { tablename: string }): Promise<[string, string]> => {
      const rows = (await client.unsafe(`SELECT t::text AS row FROM "${tablename}" t`)) as { row: string }[]
      return [tablename, rows.map(({ row }) => row).join('\n')]
    }
    const dumped: [string, string][] = []
    for (const table of tables) dumped.push(await dump(table))
    return dumped
  } finally {
    await client.close()
  }
}
