#!/usr/bin/env python3
"""opcua_bridge.py - `rehearse deploy` as a client of an OPC UA server (pip install asyncua).

    opcua_bridge.py FILE.ini BEST.yaml [options of rehearse deploy]

Addresses are node ids: temp = ns=2;s=Plant.Temp. A value is missing unless its status is good.
docs/bridges.md explains the file; opcua.ini is an example.
"""
import asyncio
import logging
import math
import sys

import bridge

try:
    from asyncua import Client, ua
    from asyncua.ua.uaerrors import BadNodeIdInvalid, BadNodeIdUnknown
except ImportError:
    sys.exit("opcua_bridge: no asyncua, expected: pip install asyncua")

AWAY = (OSError, asyncio.TimeoutError, ua.UaError, ConnectionError)
ANSWER = 4  # seconds that the server may take
logging.getLogger("asyncua").setLevel(logging.CRITICAL)  # the bridge says what is lost


class Plant:
    def __init__(self, spec):
        self.spec, self.url = spec, spec.settings["url"]
        self.loop = asyncio.new_event_loop()
        self.client = None
        self.node, self.type = {}, {}
        for key, text in {**spec.reads, **spec.writes}.items():
            try:
                ua.NodeId.from_string(text)
            except (ua.UaError, ValueError):
                raise bridge.Wrong(f"{spec.path}: {key[1]} = {text}, expected a node id: ns=2;s=Plant.Temp") from None

    def __str__(self):
        return self.url

    def do(self, work):
        return self.loop.run_until_complete(asyncio.wait_for(work, ANSWER))

    def connect(self, first):
        self.client = Client(self.url, timeout=ANSWER)
        settings = self.spec.settings
        if settings["user"]:
            self.client.set_user(settings["user"])
            self.client.set_password(settings["password"])
        try:
            self.do(self.client.connect())
            for key, text in {**self.spec.reads, **self.spec.writes}.items():
                self.node[key] = self.client.get_node(text)
                self.type[key] = self.do(self.node[key].read_data_type_as_variant_type())
        except (BadNodeIdUnknown, BadNodeIdInvalid) as error:
            self.close()
            if first:
                raise bridge.Wrong(f"{self.spec.path}: {key[1]} = {text}: no such node on {self.url}") from None
            raise bridge.Lost(error) from None
        except AWAY as error:
            self.close()
            raise bridge.Lost(str(error) or type(error).__name__) from None

    def read(self, keys):
        try:
            found = self.do(self.client.read_attributes([self.node[key] for key in keys]))
        except AWAY as error:
            raise bridge.Lost(str(error) or type(error).__name__) from None
        return {key: self.number(value) for key, value in zip(keys, found)}

    @staticmethod
    def number(value):
        """None: missing."""
        x = value.Value.Value if value.Value is not None else None
        good = value.StatusCode is None or value.StatusCode.is_good()
        real = isinstance(x, (bool, int, float)) and math.isfinite(x)
        return float(x) if good and real else None

    def write(self, numbers):
        values = []
        for key, x in numbers.items():
            kind = self.type[key]
            if kind == ua.VariantType.Boolean:
                x = x != 0
            elif kind not in (ua.VariantType.Float, ua.VariantType.Double):
                x = round(x)
            values.append(ua.DataValue(ua.Variant(x, kind)))
        try:
            found = self.do(self.client.uaclient.write_attributes(
                [self.node[key].nodeid for key in numbers], values, ua.AttributeIds.Value)) if values else []
        except AWAY as error:
            raise bridge.Lost(str(error) or type(error).__name__) from None
        for (key, x), status in zip(numbers.items(), found):
            if not status.is_good():
                bridge.say(f"{self.spec.path}: {key[1]} = {self.spec.writes[key]}: "
                           f"the server refuses to write {x:g}: {status.name}")
        return all(status.is_good() for status in found)

    def wait(self, seconds):
        self.loop.run_until_complete(asyncio.sleep(seconds))

    def close(self):
        try:
            self.do(self.client.disconnect())
        except Exception:  # it may be gone in any way
            pass


if __name__ == "__main__":
    sys.exit(bridge.main("opcua_bridge.py", Plant, {"url": None, "user": "", "password": ""}, sys.argv[1:]))
