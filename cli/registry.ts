import type { Command } from './command'
import { help } from './commands/help'
import { listCommands } from './commands/list'
import { version } from './commands/version'

/** Every command, in the order help lists them. Help, parsing, the machine list and the tests are made from this. */
export const commands: readonly Command[] = [listCommands, help, version]
