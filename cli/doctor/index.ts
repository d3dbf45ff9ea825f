/** Doctor: checks of this machine and this server, each with evidence and one fix (docs/operating.md 2.19). */
import { browserCheck } from './browser'
import type { Check } from './check'
import { classifierEngineCheck, guardrailEngineCheck, speechCheck, transcriptionCheck, videoMarkCheck } from './engines'
import { backupsCheck, configCheck, diskCheck, filesCheck, portCheck, secretsCheck, socketCheck } from './host'
import * as server from './server'

export const CHECKS: readonly Check[] = [
  configCheck,
  secretsCheck,
  filesCheck,
  server.migrationsCheck,
  server.databaseCheck,
  server.redisCheck,
  server.clockCheck,
  portCheck,
  server.publicUrlCheck,
  socketCheck,
  server.enginesCheck,
  guardrailEngineCheck,
  classifierEngineCheck,
  server.jobsCheck,
  speechCheck,
  transcriptionCheck,
  server.webhooksCheck,
  browserCheck,
  videoMarkCheck,
  server.widgetsCheck,
  server.devKeyCheck,
  server.ledgerCheck,
  server.auditCheck,
  diskCheck,
  backupsCheck,
]
