import type { OpsClient, TenantClient } from '../src/app/client'
import type { Transport } from './transport'

/** An open way to a server. */
export type Connection = {
  transport: Transport
  /** The operator plane. @throws CommandFailed 7 over `--url`: it is served on the socket only. */
  ops(): OpsClient
  /** The tenant plane with the key that was given. @throws CommandFailed 4 when none was. */
  tenant(): TenantClient
  close(): Promise<void>
}
