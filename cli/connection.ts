import type { OpsClient, Target, TenantClient } from '../src/app/client'
import type { Config } from '../src/app/config'
import type { Transport } from './transport'

/** A connection to a server. */
export type Connection = {
  transport: Transport
  /** The configuration of this machine; a remote server's is unknown. */
  config: Config
  /** Which API the credential opens: the operators' on this machine, otherwise the one the key is for. */
  api: 'operator' | 'tenant'
  /**
   * The operator API; commands with an API key and `--url` are refused before they get here. Never return the client from
   * an async function: it answers to any property, `then` included, so awaiting it never resolves.
   */
  ops(): OpsClient
  /** One plain request to the API of the credential in use, for what is streamed; `ended` stops it. */
  fetch(path: string, ended?: AbortSignal): Promise<Response>
  /** What a signed link of the server leads to; no key goes with it. */
  follow(link: string): Promise<Response>
  /** The tenant API with the given key or the one the first run left. @throws CommandFailed 4, 7 */
  tenant(): Promise<TenantApi>
  close(): Promise<void>
}

export type TenantApi = { client: TenantClient; target: Target; key: string; keySource: string; url: string | null }
