/** Doctor: checks of this machine and this server, each with one sentence of evidence and one fix (dx 2.19). */
import { browserCheck } from './browser'
import type { Check } from './check'
import { classifierEngineCheck, guardrailEngineCheck, speechCheck, transcriptionCheck, videoMarkCheck } from './engines'
import { backupsCheck, configCheck, diskCheck, filesCheck, portCheck, secretsCheck, socketCheck } from './host'
import {
  auditCheck,
  clockCheck,
  databaseCheck,
  devKeyCheck,
  enginesCheck,
  jobsCheck,
  ledgerCheck,
  migrationsCheck,
  publicUrlCheck,
  redisCheck,
  webhooksCheck,
  widgetsCheck,
} from './server'

export const CHECKS: readonly Check[] = [
  configCheck,
  secretsCheck,
  filesCheck,
  migrationsCheck,
  databaseCheck,
  redisCheck,
  clockCheck,
  portCheck,
  publicUrlCheck,
  socketCheck,
  enginesCheck,
  guardrailEngineCheck,
  classifierEngineCheck,
  jobsCheck,
  speechCheck,
  transcriptionCheck,
  webhooksCheck,
  browserCheck,
  videoMarkCheck,
  widgetsCheck,
  devKeyCheck,
  ledgerCheck,
  auditCheck,
  diskCheck,
  backupsCheck,
]
