import { readFileSync } from 'node:fs'
import type { Server } from 'bun'
import { ConfigError } from '../kernel/config'
import { inUse, portProblem } from '../kernel/port-holder'
import type { Config } from './config'
import type { OpenApp } from './open'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/

/** Largest request body. Operator requests are small. */
const MAX_BODY_BYTES = 1024 * 1024

type ListenAddress = { hostname: string; port: number; tls: { cert: string; key: string } | null }

/**
 * Serves the operator API to other machines on its own port. Null if not configured. Keys cross the network here, so
 * any address beyond loopback requires TLS (docs/operating.md 2.2).
 * @throws ConfigError
 */
export function listenForRemoteOperators({ remoteOps, config }: OpenApp): Server<unknown> | null {
  if (!remoteOps) return null
  const { hostname, port, tls } = listenAddressOf(config)
  try {
    return Bun.serve({
      hostname,
      port,
      development: false,
      reusePort: false,
      maxRequestBodySize: MAX_BODY_BYTES,
      // Verifying a large store sends nothing for longer than the default idle timeout of ten seconds.
      idleTimeout: 255,
      // The framework looks for the path after `http://` and a host. With the longer `https://` it would not find the
      // path.
      fetch: (request) =>
        remoteOps.handle(tls ? new Request(request.url.replace(/^https:/, 'http:'), request) : request),
      ...(tls ? { tls } : {}),
    })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    throw cannotListen(config, code === 'EADDRINUSE' ? code : message)
  }
}

/**
 * Checks that the configured address is free, before a start creates anything.
 * @throws ConfigError
 */
export async function assertRemoteAddressFree(config: Config): Promise<void> {
  // A production start lists these problems together with all others.
  if (!config.opsListen || (config.production && remoteProblems(config).length)) return
  const { hostname, port } = listenAddressOf(config)
  const code = await portProblem(hostname, port)
  if (code) throw cannotListen(config, code)
}

const cannotListen = (config: Config, code: string): ConfigError => {
  const why = code === 'EADDRINUSE' ? inUse(listenAddressOf(config).port) : `cannot be used (${code})`
  return new ConfigError([`SVC_OPS_LISTEN: ${config.opsListen} ${why}.`])
}

/** The URL of the listening remote operator API. */
export const urlOf = ({ hostname, port, url }: Server<unknown>): string =>
  `${url.protocol}//${hostname?.includes(':') ? `[${hostname}]` : hostname}:${port}`

/** Problems of the configured remote operator address. Empty if it is fine or not configured. */
export function remoteProblems(config: Config): readonly string[] {
  try {
    if (config.opsListen) listenAddressOf(config)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

function listenAddressOf({ opsListen, opsTlsCert, opsTlsKey }: Config): ListenAddress {
  const at = opsListen.lastIndexOf(':')
  const hostname = opsListen.slice(0, at).replace(/^\[|\]$/g, '')
  const port = Number(opsListen.slice(at + 1))
  if (port > 65_535) throw new ConfigError([`SVC_OPS_LISTEN: ${opsListen} has no port between 0 and 65535.`])
  if (opsTlsCert && opsTlsKey) {
    return {
      hostname,
      port,
      tls: { cert: pem('SVC_OPS_TLS_CERT', opsTlsCert), key: pem('SVC_OPS_TLS_KEY', opsTlsKey) },
    }
  }
  if (opsTlsCert || opsTlsKey) {
    throw new ConfigError(['Set both SVC_OPS_TLS_CERT and SVC_OPS_TLS_KEY, or neither. One of them is missing.'])
  }
  if (LOOPBACK.test(hostname)) return { hostname, port, tls: null }
  throw new ConfigError([
    `SVC_OPS_LISTEN: ${opsListen} is not a loopback address, so operator keys would be sent unprotected. ` +
      'Set SVC_OPS_TLS_CERT and SVC_OPS_TLS_KEY, or listen on 127.0.0.1 behind a proxy that speaks HTTPS.',
  ])
}

function pem(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError([
      `${name}: ${path} cannot be read (${(error as { code?: string }).code ?? 'unknown reason'}).`,
    ])
  }
}
