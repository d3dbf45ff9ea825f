import { AppError } from '../kernel/errors'

/** Runs `pg_dump`. */
export const dumpPostgres = (url: string, target: string): Promise<void> =>
  run('pg_dump', ['--format=custom', `--file=${target}`], url)

/** Runs `pg_restore` into an empty database. */
export const restorePostgres = (url: string, file: string): Promise<void> =>
  run('pg_restore', ['--single-transaction', '--no-owner', `--dbname=${nameOf(url)}`, file], url)

const nameOf = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1))

/** The password is passed in the environment, because arguments are visible to other processes. */
async function run(program: 'pg_dump' | 'pg_restore', args: string[], url: string): Promise<void> {
  const { hostname, port, username, password, searchParams } = new URL(url)
  const tool = Bun.which(program)
  if (!tool)
    throw new AppError(
      'service_unavailable',
      `${program} is not installed here. Install the PostgreSQL client, or run this on the machine of the database.`,
    )
  const child = Bun.spawn([tool, ...args], {
    env: {
      PGHOST: searchParams.get('host') ?? hostname,
      PGPORT: port || '5432',
      PGUSER: decodeURIComponent(username),
      PGPASSWORD: decodeURIComponent(password),
      PGDATABASE: nameOf(url),
    },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const stderr = await new Response(child.stderr).text()
  if ((await child.exited) !== 0)
    throw new AppError('server_error', `${program} failed: ${stderr.trim().slice(0, 300)}`)
}
