import type { Connection } from '../connection'
import { EXIT } from '../exit'
import { CommandFailed, expectData } from '../failure'

/** @throws CommandFailed 5 for a server that was started for production */
export async function assertDev(connection: Connection, command: string): Promise<void> {
  const { mode } = expectData(await connection.ops().status.get())
  if (mode === 'production') throw notForProduction(command)
}

export const notForProduction = (command: string): CommandFailed =>
  new CommandFailed({
    exitCode: EXIT.conflict,
    code: 'conflict',
    message: `${command} is for development, but this server is in production mode.`,
    fix: 'choose another data folder with --data-dir',
  })
