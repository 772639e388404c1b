#!/usr/bin/env python3
"""modbus_bridge.py - `rehearse deploy` as a client of a Modbus TCP device (pip install pymodbus).

    modbus_bridge.py FILE.ini BEST.yaml [options of rehearse deploy]

Addresses are a table, a number from 0, and what is there: temp = holding 100 float32,
level = input 3 int16 scale 0.01 bad -32768, run = coil 5. A value that cannot be read, or is the
one that means bad, is missing. docs/bridges.md explains the file; modbus.ini is an example.
"""
import logging
import math
import struct
import sys
import time

import bridge

try:
    from pymodbus.client import ModbusTcpClient
    from pymodbus.exceptions import ModbusException
except ImportError:
    sys.exit("modbus_bridge: no pymodbus, expected: pip install pymodbus")

TABLES = ("holding", "input", "coil", "discrete")
TYPES = {"int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "float32": "f", "float64": "d"}
ANSWER = 3  # seconds that the device may take
logging.getLogger("pymodbus").setLevel(logging.CRITICAL)  # the bridge says what is lost
ILLEGAL_ADDRESS = 2  # exception of a device without such a register


class Register:
    def __init__(self, path, name, text, written):
        words = text.split()
        expected = "holding 100 float32, input 3 int16 scale 0.01 bad -32768, or coil 5"
        self.text = f"{path}: {name} = {text}"
        try:
            self.table, self.at, *rest = words
            self.at = int(self.at)
            self.bit = self.table in ("coil", "discrete")
            self.type = None if self.bit else rest.pop(0)
            more = {rest[i]: float(rest[i + 1]) for i in range(0, len(rest), 2)}
        except (ValueError, IndexError):
            raise bridge.Wrong(f"{self.text}, expected {expected}") from None
        if self.table not in TABLES or not 0 <= self.at <= 65535 or not (self.bit or self.type in TYPES) \
                or set(more) - {"scale", "bad"} or more.get("scale") == 0:
            raise bridge.Wrong(f"{self.text}, expected {expected}")
        if written and self.table not in ("holding", "coil"):
            raise bridge.Wrong(f"{self.text}: {self.table} cannot be written, expected holding or coil")
        self.scale, self.bad = more.get("scale", 1.0), more.get("bad")
        self.count = 1 if self.bit else struct.calcsize(">" + TYPES[self.type]) // 2

    def decode(self, words, order):
        """The number in registers, None: missing."""
        words = words if order == "big" else words[::-1]
        (x,) = struct.unpack(">" + TYPES[self.type], struct.pack(f">{len(words)}H", *words))
        return None if x == self.bad or not math.isfinite(x) else x * self.scale

    def encode(self, x, order):
        """Registers for a number, cut to what they can hold."""
        code = TYPES[self.type]
        x /= self.scale
        if code not in "fd":
            bits = 16 * self.count
            lo, hi = (0, 2**bits - 1) if code.isupper() else (-2**(bits - 1), 2**(bits - 1) - 1)
            x = min(max(round(x), lo), hi)
        words = struct.unpack(f">{self.count}H", struct.pack(">" + code, x))
        return list(words if order == "big" else words[::-1])


class Plant:
    def __init__(self, spec):
        self.spec, settings = spec, spec.settings
        self.host, _, port = settings["host"].rpartition(":")
        if not self.host or not port.isdigit():
            raise bridge.Wrong(f"{spec.path}: host = {settings['host']}, expected NAME:PORT")
        if settings["order"] not in ("big", "little"):
            raise bridge.Wrong(f"{spec.path}: order = {settings['order']}, expected big or little")
        self.port, self.order, self.unit = int(port), settings["order"], int(spec.number("unit"))
        self.client = None
        self.at = {key: Register(spec.path, key[1], text, key in spec.writes)
                   for key, text in {**spec.reads, **spec.writes}.items()}

    def __str__(self):
        return f"{self.host}:{self.port}"

    def connect(self, first):
        self.client = ModbusTcpClient(self.host, port=self.port, timeout=ANSWER, retries=1)
        if not self.client.connect():
            raise bridge.Lost("cannot connect")
        if first:
            for key in self.spec.reads:
                self.one(key, True)

    def one(self, key, first=False):
        """The number at key, None: missing."""
        r = self.at[key]
        ask = {"holding": self.client.read_holding_registers, "input": self.client.read_input_registers,
               "coil": self.client.read_coils, "discrete": self.client.read_discrete_inputs}[r.table]
        try:
            reply = ask(r.at, count=r.count, device_id=self.unit)
        except (ModbusException, OSError) as error:
            raise bridge.Lost(str(error)) from None
        if reply.isError():
            if first and reply.exception_code == ILLEGAL_ADDRESS:
                raise bridge.Wrong(f"{r.text}: no such register on {self}")
            return None
        return float(reply.bits[0]) if r.bit else r.decode(reply.registers, self.order)

    def read(self, keys):
        return {key: self.one(key) for key in keys}

    def write(self, numbers):
        done = True
        for key, x in numbers.items():
            r = self.at[key]
            try:
                if r.bit:
                    reply = self.client.write_coil(r.at, x != 0, device_id=self.unit)
                else:
                    reply = self.client.write_registers(r.at, r.encode(x, self.order), device_id=self.unit)
            except (ModbusException, OSError) as error:
                raise bridge.Lost(str(error)) from None
            if reply.isError():
                bridge.say(f"{r.text}: the device refuses to write {x:g}: {reply}")
                done = False
        return done

    def wait(self, seconds):
        time.sleep(seconds)

    def close(self):
        if self.client:
            self.client.close()


if __name__ == "__main__":
    sys.exit(bridge.main("modbus_bridge.py", Plant, {"host": None, "unit": "1", "order": "big"}, sys.argv[1:]))
