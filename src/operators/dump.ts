import { AppError } from '../kernel/errors'

const UNREACHABLE =
  'pg_dump is not installed here. Install the PostgreSQL client, or back the database up where it runs.'

/** Runs `pg_dump`. The password is passed in the environment, because arguments are visible to other processes. */
export async function dumpPostgres(url: string, target: string): Promise<void> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url)
  const tool = Bun.which('pg_dump')
  if (!tool) throw new AppError('unavailable', 'service_unavailable', UNREACHABLE)
  const child = Bun.spawn([tool, '--format=custom', `--file=${target}`], {
    env: {
      PGHOST: searchParams.get('host') ?? hostname,
      PGPORT: port || '5432',
      PGUSER: decodeURIComponent(username),
      PGPASSWORD: decodeURIComponent(password),
      PGDATABASE: decodeURIComponent(pathname.slice(1)),
    },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const stderr = await new Response(child.stderr).text()
  if ((await child.exited) !== 0)
    throw new AppError('broken', 'server_error', `pg_dump failed: ${stderr.trim().slice(0, 300)}`)
}
