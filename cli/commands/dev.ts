import { devEngine } from './dev-engine'
import { devLoad } from './dev-load'
import { devReset } from './dev-reset'
import { devSeed } from './dev-seed'
import { devSink } from './dev-sink'

export const devCommands = [devSeed, devReset, devEngine, devSink, devLoad]
