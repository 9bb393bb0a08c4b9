/** A view of an object with one method replaced. All other methods keep their own `this`, so private fields work. */
export function replaceMethod<T extends object, Name extends keyof T>(object: T, method: Name, run: T[Name]): T {
  return new Proxy(object, {
    get(of, name) {
      if (name === method) return run;
      const value: unknown = Reflect.get(of, name);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
}
