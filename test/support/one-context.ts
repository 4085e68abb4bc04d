/**
 * Jest's Node environment without a separate context per file. Files run in Node's own context, so they can share
 * packages (runtime.ts), and globals need no proxy; this halves the CPU time of a file that starts the service.
 * Restores globals, environment variables and listeners after each file. New globals stay, because packages create some
 * when they are loaded.
 */
import vm from "node:vm";
import { ModernFakeTimers } from "@jest/fake-timers";
import { TestEnvironment } from "jest-environment-node";
import { ModuleMocker } from "jest-mock";

/** Placeholder that means "no separate context": Jest requires a context to compile modules in. */
const NONE = vm.createContext();

const compile = vm.compileFunction;
vm.compileFunction = (code, params, { parsingContext, ...options } = {}) =>
  compile(code, params, parsingContext === NONE || !parsingContext ? options : { ...options, parsingContext });

type Listener = (...args: unknown[]) => void;

const listeners = () =>
  process.eventNames().flatMap((event) => process.rawListeners(event).map((listener) => [event, listener] as const));

/** Saves the current state and returns a function that restores it. */
function saveState(): () => void {
  const globals = Object.getOwnPropertyDescriptors(globalThis);
  const variables = { ...process.env };
  const listening = new Set(listeners().map(([, listener]) => listener));
  const { stackTraceLimit } = Error;
  return () => {
    for (const [name, before] of Object.entries(globals)) {
      const now = Object.getOwnPropertyDescriptor(globalThis, name);
      if (before.configurable && now?.value !== before.value) Object.defineProperty(globalThis, name, before);
    }
    for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
    Object.assign(process.env, variables);
    for (const [event, listener] of listeners()) {
      if (!listening.has(listener)) process.removeListener(event, listener as Listener);
    }
    Error.stackTraceLimit = stackTraceLimit;
  };
}

export class OneContextEnvironment extends TestEnvironment {
  readonly #restore = saveState();

  constructor(...given: ConstructorParameters<typeof TestEnvironment>) {
    super(...given);
    const { global } = this;
    // Jest stores its own state under symbols, which must stay.
    for (const name of Object.getOwnPropertySymbols(global)) {
      if (!(name in globalThis))
        Object.defineProperty(globalThis, name, Object.getOwnPropertyDescriptor(global, name)!);
    }
    this.global = globalThis as unknown as typeof global;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: given[0].projectConfig, global: globalThis });
  }

  override getVmContext(): vm.Context {
    return NONE;
  }

  override async teardown(): Promise<void> {
    await super.teardown();
    this.#restore();
  }
}
