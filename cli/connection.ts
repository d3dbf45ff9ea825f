import type { OpsClient, Target, TenantClient } from '../src/app/client'
import type { Config } from '../src/app/config'
import type { Transport } from './transport'

/** An open way to a server. */
export type Connection = {
  transport: Transport
  /** The configuration of this machine; of a remote server nothing is known. */
  config: Config
  /** Which plane the credential opens: an operator's everywhere on this machine, else what the key is for. */
  plane: 'operator' | 'tenant'
  /**
   * The operator plane; an API key with `--url` is refused before this. Never return
   * it from an async function: a client answers to any name, `then` included, and awaiting it never ends.
   */
  ops(): OpsClient
  /** One plain exchange with it, for files that are read as they come. */
  fetchOps(path: string): Promise<Response>
  /** The tenant plane with the key that was given, or the one the first run left. @throws CommandFailed 4, 7 */
  tenant(): Promise<TenantPlane>
  close(): Promise<void>
}

export type TenantPlane = { client: TenantClient; target: Target; key: string; keySource: string; url: string | null }
