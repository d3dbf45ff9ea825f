import { existsSync, lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Server } from 'bun'
import { ConfigError } from '../kernel/config'
import { inUse, portProblem } from '../kernel/port-holder'
import type { Config } from './config'
import { lockDataDir } from './lock'
import type { OpenApp } from './open'
import { assertRemoteAddressFree } from './remote-operators'
import { servesApi } from './roles'

/**
 * Checks every address before a start creates anything: a first start that fails later would leave an account and a key
 * that nobody was shown.
 * @throws ConfigError
 */
export async function assertAddressesFree(config: Config): Promise<void> {
  await assertRemoteAddressFree(config)
  if (!servesApi(config)) return
  if (config.unix) {
    if (existsSync(config.unix) && !lstatSync(config.unix).isSocket())
      throw new ConfigError([`SVC_UNIX: ${config.unix} exists but is not a socket. Choose another path.`])
    return
  }
  const code = await portProblem(config.host, config.port)
  if (!code) return
  // The server of this folder is the likeliest holder of the port, and its lock names it.
  if (existsSync(join(config.dataDir, 'server.lock'))) lockDataDir(config.dataDir).release()
  throw cannotListen(config, code)
}

/** Listens on the port or the socket. @throws ConfigError */
export function listen({ api, config }: OpenApp): Server<unknown> {
  if (config.unix) return listenOnSocket(api, config.unix)
  try {
    api.listen({ port: config.port, hostname: config.host })
  } catch (error) {
    throw cannotListen(config, (error as { code?: string }).code)
  }
  return api.server as Server<unknown>
}

function cannotListen({ host, port }: Config, code: string | undefined): ConfigError {
  const next = `Choose another: --port ${port < 1024 ? 8080 : port + 1}, or SVC_PORT.`
  if (code === 'EADDRINUSE') return new ConfigError([`Port ${port} on ${host} ${inUse(port)}. ${next}`])
  if (code === 'EACCES') return new ConfigError([`Port ${port} on ${host} needs rights that this user lacks. ${next}`])
  return new ConfigError([
    `SVC_HOST: ${host} is not an address of this machine. Use 127.0.0.1 for this machine only, or 0.0.0.0 for all networks.`,
  ])
}

/** Who may open the socket is who may reach the API: this user and its group, such as that of a proxy. */
function listenOnSocket(api: OpenApp['api'], path: string): Server<unknown> {
  rmSync(path, { force: true })
  const before = process.umask(0o117)
  try {
    api.listen({ unix: path } as unknown as Parameters<typeof api.listen>[0])
  } catch (error) {
    throw new ConfigError([`SVC_UNIX: ${path} cannot be used (${(error as Error).message}).`])
  } finally {
    process.umask(before)
  }
  return api.server as Server<unknown>
}
