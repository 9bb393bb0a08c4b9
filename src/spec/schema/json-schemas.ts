import { z } from 'zod';
import { mapValues } from '../../base/map-values.ts';
import { ConditionsFile } from './conditions-file.ts';
import { GateFile } from './gate-file.ts';
import { PeripheralFile } from './peripheral-file.ts';
import { ProjectFile } from './project-file.ts';
import { PropertiesFile } from './properties-file.ts';
import { ScenarioFile } from './scenario-file.ts';
import { ScopesFile } from './scopes-file.ts';
import { ToolsFile } from './tools-file.ts';

const FILES: { readonly [fileName: string]: z.ZodType } = {
  'conditions.schema.json': ConditionsFile,
  'gate.schema.json': GateFile,
  'hopgate.schema.json': ProjectFile,
  'peripheral.schema.json': PeripheralFile,
  'properties.schema.json': PropertiesFile,
  'scenario.schema.json': ScenarioFile,
  'scopes.schema.json': ScopesFile,
  'tools.schema.json': ToolsFile,
};

/** The JSON Schema (draft 7, for editors) of each authored file kind, by its file name in `specs/schemas/`. */
export const jsonSchemas = (): { [fileName: string]: object } =>
  mapValues(FILES, (schema) => z.toJSONSchema(schema, { target: 'draft-7', io: 'input' }));
